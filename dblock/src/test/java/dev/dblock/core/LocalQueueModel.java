package dev.dblock.core;

import java.lang.reflect.Field;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.Lease.Grant;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.core.queue.Outcome;
import dev.dblock.core.queue.PollPause;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.core.queue.Turn;
import dev.dblock.core.queue.Waiter;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.LeaseKey;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * A queue, a store and some threads, each of which does what {@link LockAcquirer} and
 * {@link LeaseKeeper} do, one call at a time:
 * <ul>
 * <li>W waits for the lock, works and releases it,</li>
 * <li>I does so too, but may be interrupted at any time before,</li>
 * <li>L waits as well, but loses the lock by the end of its lease,</li>
 * <li>S waits too, but its time may be up whenever it is parked,</li>
 * <li>T tries once,</li>
 * <li>X is another process that may or may not hold the lock for a while.</li>
 * </ul>
 * The stream of releases is a thread as well: a release is reported at some time after
 * it. So is the time for which the others go first, and that for which the head goes
 * before those without a place: it may pass at any moment.
 */
final class LocalQueueModel {

	static final LeaseTerms TERMS = LocalQueueModelTests.terms();

	private static final String NAME = "name";

	private static final int INTERRUPT = 100;

	private static final int STREAM = 99;

	private static final int TIME = 98;

	private static final int LONG_TIME = 97;

	private static final long REQUEST_NANOS = 1000;

	/**
	 * Shorter than the delay of a release signal, so that any pause ends a turn.
	 */
	private static final long POLL_NANOS = 500;

	private static final long LONGEST_YIELD_NANOS = 2 * REQUEST_NANOS + POLL_NANOS;

	/** By class and name. Looked up once, since each is read millions of times. */
	private static final Map<Class<?>, Map<String, Field>> FIELDS = new HashMap<>();

	static final LockClock STOPPED = new LockClock() {

		@Override
		public long nanoTime() {
			return 0;
		}

		@Override
		public long wallMillis() {
			return 0;
		}

	};

	private final LocalQueues queues;

	private final List<Actor> actors = new ArrayList<>();

	private final List<Actor> line = new ArrayList<>();

	/** Of each step, its choice and where the thread was: written out only on failure. */
	private final StringBuilder steps = new StringBuilder();

	private @Nullable String stored;

	private int untold;

	private long nanos;

	private int tokens;

	private @Nullable Actor inside;

	LocalQueueModel(int handOvers, boolean polling, String cast) {
		this.queues = new LocalQueues(new EngineSettings.HandOff(handOvers, Duration.ofDays(1)),
				Duration.ofDays(1).toNanos(), (held) -> polling ? POLL_NANOS : 0, () -> this.nanos);
		cast.chars().forEach((kind) -> this.actors.add(new Actor((char) kind, this.actors.size())));
	}

	List<Integer> choices() {
		List<Integer> choices = new ArrayList<>();
		for (Actor actor : this.actors) {
			if (actor.canStep() && !comesAfterItsLike(actor)) {
				choices.add(actor.number);
			}
			if (actor.canBeInterrupted() || actor.canRunOutOfTime()) {
				choices.add(INTERRUPT + actor.number);
			}
		}
		if (this.untold > 0) {
			choices.add(STREAM);
		}
		if (isYielding()) {
			choices.add(TIME);
		}
		else if (isHeadStart()) {
			choices.add(LONG_TIME);
		}
		return choices;
	}

	/**
	 * Threads of one kind begin in the order of their numbers: any other order is the
	 * same story with other names.
	 */
	private boolean comesAfterItsLike(Actor actor) {
		for (int i = 0; actor.at == At.START && i < actor.number; i++) {
			Actor other = this.actors.get(i);
			if (other.kind == actor.kind && other.at == At.START) {
				return true;
			}
		}
		return false;
	}

	void step(int choice) {
		At at = (choice == STREAM || choice == TIME || choice == LONG_TIME) ? At.OVER
				: this.actors.get(choice % INTERRUPT).at;
		this.steps.append((char) choice).append((char) at.ordinal());
		if (choice == STREAM) {
			this.untold--;
			this.queues.signal(NAME);
			return;
		}
		if (choice == TIME) {
			this.nanos += LONGEST_YIELD_NANOS;
			this.actors.forEach(Actor::timePasses);
			return;
		}
		if (choice == LONG_TIME) {
			this.nanos += LocalQueue.HEAD_START_NANOS;
			return;
		}
		Actor actor = this.actors.get(choice % INTERRUPT);
		if (choice >= INTERRUPT) {
			actor.at = (actor.kind == 'S') ? At.LAST : At.QUIT;
		}
		actor.step();
		for (Actor each : this.actors) {
			check(!each.hasMissedAnAnswer(), "Waits for an answer that is there");
		}
	}

	private boolean isYielding() {
		LocalQueue queue = this.queues.find(NAME);
		return queue != null && queue.isYielding();
	}

	/**
	 * Whether it matters to another thread that the head goes first.
	 */
	private boolean isHeadStart() {
		LocalQueue queue = this.queues.find(NAME);
		if (queue == null) {
			return false;
		}
		for (Actor actor : this.actors) {
			if (actor.kind == 'T' && actor.at == At.START) {
				return (long) Objects.requireNonNull(field(part(queue, "request"), "headStartUntilNanos")) > this.nanos;
			}
		}
		return false;
	}

	boolean isOver() {
		return this.actors.stream().allMatch((actor) -> actor.at == At.OVER);
	}

	boolean isClean() {
		return this.queues.size() == 0 && this.actors.stream().allMatch(Actor::leavesNothing) && this.stored == null;
	}

	/**
	 * Everything that the future depends on.
	 */
	String state() {
		StringBuilder state = new StringBuilder(128);
		LocalQueue queue = this.queues.find(NAME);
		Object holder = (queue != null) ? holder(queue) : null;
		for (Actor actor : this.actors) {
			state.append((char) ('A' + actor.at.ordinal()));
			add(state, actor.waiter != null && actor.waiter.isAnsweredLate(), actor.quitting, actor.permit,
					actor.pausesForOthers, actor.asksAtLast, actor.awaitsAnswer, actor.lease != null,
					actor.handed() != null, actor.lease != null && actor.lease == holder,
					actor.id != null && actor.id.equals(this.stored));
		}
		for (Actor waiting : this.line) {
			state.append(waiting.number);
		}
		state.append(' ').append(this.untold);
		add(state, this.stored == null, queue == null);
		if (queue != null) {
			Object releases = part(queue, "releases");
			Object request = part(queue, "request");
			state.append(field(releases, "count")).append(' ').append(field(queue, "visitors")).append(' ');
			add(state, holder == null, field(releases, "returned") == null, (boolean) field(request, "signalled"),
					(boolean) field(request, "inProgress"), (boolean) field(request, "requested"), isYielding(),
					isHeadStart(), isTurnOver(queue), queue.plan() == null);
			state.append(field(request, "lastWasGrant")).append(' ').append(field(part(queue, "streak"), "count"));
		}
		return state.toString();
	}

	private static @Nullable Object holder(LocalQueue queue) {
		List<?> leases = (List<?>) Objects.requireNonNull(field(part(queue, "holders"), "leases"));
		return leases.isEmpty() ? null : leases.get(0);
	}

	private static void add(StringBuilder state, boolean... flags) {
		for (boolean flag : flags) {
			state.append(flag ? '1' : '0');
		}
	}

	private boolean isTurnOver(LocalQueue queue) {
		Object yield = part(queue, "crossProcessYield");
		long since = (long) Objects.requireNonNull(field(yield, "turnSinceNanos"));
		return this.nanos - since >= POLL_NANOS || Boolean.TRUE.equals(field(yield, "turnOver"));
	}

	private static Object part(LocalQueue queue, String name) {
		return Objects.requireNonNull(field(queue, name));
	}

	private static @Nullable Object field(Object target, String name) {
		Map<String, Field> fields = FIELDS.computeIfAbsent(target.getClass(), (type) -> new HashMap<>());
		Field field = fields.get(name);
		if (field == null) {
			field = Objects.requireNonNull(ReflectionUtils.findField(target.getClass(), name), name);
			field.setAccessible(true);
			fields.put(name, field);
		}
		return ReflectionUtils.getField(field, target);
	}

	@Override
	public String toString() {
		StringBuilder story = new StringBuilder();
		for (int i = 0; i < this.steps.length(); i += 2) {
			story.append(switch (this.steps.charAt(i)) {
				case STREAM -> " signalled";
				case TIME -> " time";
				case LONG_TIME -> " long time";
				default -> " " + this.actors.get(this.steps.charAt(i) % INTERRUPT) + ":"
						+ At.values()[this.steps.charAt(i + 1)];
			});
		}
		return story + " -> " + this.actors.stream().map((actor) -> actor + "=" + actor.at).toList();
	}

	private void check(boolean condition, String rule) {
		if (!condition) {
			throw new AssertionError(rule + ": " + this);
		}
	}

	private enum At {

		START, LOOK, TURN, PARKED, ASK, REFUSED, GRANTED, LEAVE, WORK, RELEASE, GIVE_UP, RELEASING, ENDED, STORE, TOLD,
		LOST, LAST, QUIT, OVER

	}

	private final class Actor {

		private final char kind;

		private final int number;

		private At at = At.START;

		private boolean permit;

		private int attempts;

		private boolean quitting;

		private boolean pausesForOthers;

		private boolean asksAtLast;

		private boolean awaitsAnswer;

		private @Nullable Waiter waiter;

		private @Nullable Lease lease;

		private @Nullable String id;

		private @Nullable LocalQueue place;

		Actor(char kind, int number) {
			this.kind = kind;
			this.number = number;
		}

		boolean canStep() {
			return this.at != At.OVER && (this.at != At.PARKED || this.permit);
		}

		boolean canBeInterrupted() {
			return this.kind == 'I' && switch (this.at) {
				case LOOK, TURN, PARKED, ASK -> true;
				default -> false;
			};
		}

		boolean canRunOutOfTime() {
			return this.kind == 'S' && this.at == At.PARKED && !this.asksAtLast && !this.awaitsAnswer;
		}

		/**
		 * A thread that is parked for no longer than others go first wakes by itself.
		 */
		void timePasses() {
			this.permit |= this.at == At.PARKED && this.pausesForOthers;
		}

		private boolean hasMissedAnAnswer() {
			return this.at == At.PARKED && this.awaitsAnswer && !this.permit
					&& (waiter().isAnsweredLate() && place().plan() != null || !place().holders().isEmpty());
		}

		private boolean keepsOthersFromAsking() {
			return this.kind != 'X' && switch (this.at) {
				case WORK, RELEASE, RELEASING, ENDED, STORE, TOLD -> true;
				case LEAVE -> this.lease != null && !this.quitting;
				default -> false;
			};
		}

		boolean leavesNothing() {
			return this.place == null || this.place.waiters() == 0 && this.place.holders().isEmpty()
					&& this.place.plan() == null && holder(this.place) == null
					&& field(part(this.place, "releases"), "count").equals(0) && field(this.place, "visitors").equals(0)
					&& field(part(this.place, "releases"), "returned") == null
					&& field(part(this.place, "request"), "signalled").equals(false)
					&& field(part(this.place, "request"), "inProgress").equals(false)
					&& field(part(this.place, "request"), "requested").equals(false);
		}

		@Nullable LeasedLock handed() {
			return (this.waiter != null) ? this.waiter.handed() : null;
		}

		void step() {
			LocalQueues queues = LocalQueueModel.this.queues;
			switch (this.at) {
				case START -> this.at = start();
				case LOOK -> this.at = look();
				case TURN -> this.at = turn();
				case PARKED -> {
					this.permit = false;
					this.at = (this.awaitsAnswer && handed() == null) ? At.LAST : At.LOOK;
				}
				case LAST -> this.at = askAtLast();
				case ASK -> this.at = ask();
				case REFUSED -> {
					place().refused(waiter(),
							new PollPause.Plan(new Outcome.OthersFirst(), 1, WaitCause.SLOW_POLL, Long.MAX_VALUE / 2));
					this.at = this.asksAtLast ? At.QUIT : At.LOOK;
				}
				case GRANTED -> {
					check(this.waiter == null || LocalQueueModel.this.line.get(0) == this, "Not first in the line");
					LocalQueueModel.this.line.remove(this);
					place().granted(lease(), this.waiter);
					this.at = At.LEAVE;
				}
				case LEAVE -> {
					place().leave();
					this.at = (this.lease != null && !this.quitting) ? At.WORK : At.OVER;
				}
				case WORK -> {
					check(LocalQueueModel.this.inside == null, "Two hold the lock");
					LocalQueueModel.this.inside = this;
					this.at = At.RELEASE;
				}
				case RELEASE -> {
					LocalQueueModel.this.inside = null;
					this.at = (this.kind == 'L') ? expire() : (handOver() ? At.OVER : At.RELEASING);
				}
				case LOST -> {
					queues.ended(lease());
					this.at = At.OVER;
				}
				case GIVE_UP -> this.at = handOver() ? At.LEAVE : At.RELEASING;
				case RELEASING -> {
					check(lease().state().endWith(LossReason.RELEASED), "Ended twice");
					this.place = queues.releasing(NAME);
					this.at = At.ENDED;
				}
				case ENDED -> {
					queues.ended(lease());
					this.at = At.STORE;
				}
				case STORE -> this.at = release();
				case TOLD -> {
					place().released(REQUEST_NANOS);
					this.at = this.quitting ? At.LEAVE : At.OVER;
				}
				case QUIT -> this.at = quit();
				case OVER -> throw new IllegalStateException();
			}
		}

		/**
		 * Whose time is up asks if it is its turn, and otherwise goes when something is
		 * known of the lock, however long that takes.
		 */
		private At askAtLast() {
			this.awaitsAnswer = false;
			boolean turnOfOthers = isYielding();
			Turn turn = place().turn(waiter(), 0, 1, "me");
			if (turn instanceof Turn.Ask) {
				check(!turnOfOthers, "Did not let others go first");
				this.asksAtLast = true;
				this.at = At.ASK;
				checkThatItMayAsk();
				return At.ASK;
			}
			if (turn instanceof Turn.GiveUp) {
				this.quitting = true;
				LocalQueueModel.this.line.remove(this);
				return At.LEAVE;
			}
			this.awaitsAnswer = turn instanceof Turn.Park;
			return this.awaitsAnswer ? At.PARKED : At.LOOK;
		}

		private At turn() {
			Turn turn = place().turn(waiter(), Long.MAX_VALUE, 0, "me");
			if (turn instanceof Turn.Park park) {
				this.pausesForOthers = park.nanos() <= LONGEST_YIELD_NANOS;
				return At.PARKED;
			}
			if (turn instanceof Turn.Take) {
				return At.LOOK;
			}
			check(turn instanceof Turn.Ask, "Gave up with time left");
			this.at = At.ASK;
			checkThatItMayAsk();
			check(!isYielding(), "Did not let others go first");
			return At.ASK;
		}

		private void checkThatItMayAsk() {
			check(this.at != At.ASK || LocalQueueModel.this.actors.stream().noneMatch(Actor::keepsOthersFromAsking),
					"Asked for what its own process holds or gives back");
		}

		private At start() {
			if (this.kind == 'X') {
				return ask();
			}
			if (this.kind == 'T') {
				return startToTry();
			}
			Waiter joining = new Waiter(TERMS) {

				@Override
				public void wake() {
					Actor.this.permit = true;
				}

				@Override
				public boolean isTimeOver() {
					return Actor.this.asksAtLast || Actor.this.awaitsAnswer;
				}

			};
			this.waiter = joining;
			this.place = LocalQueueModel.this.queues.join(NAME, joining);
			LocalQueueModel.this.line.add(this);
			return At.LOOK;
		}

		private At startToTry() {
			LocalQueue found = LocalQueueModel.this.queues.find(NAME);
			if (found != null && (!found.present(1).isEmpty() || found.letsOthersGoFirst())) {
				return At.OVER;
			}
			this.at = At.ASK;
			checkThatItMayAsk();
			this.place = LocalQueueModel.this.queues.enter(NAME);
			return At.ASK;
		}

		private At look() {
			LeasedLock handed = handed();
			if (handed == null) {
				return At.TURN;
			}
			this.lease = handed.lease();
			this.id = handed.lease().key().holder();
			return At.LEAVE;
		}

		private At ask() {
			check(this.waiter == null || LocalQueueModel.this.line.isEmpty() || LocalQueueModel.this.line.get(0) == this
					|| handed() != null, "Asked out of turn");
			if (LocalQueueModel.this.stored != null) {
				return switch (this.kind) {
					case 'X' -> At.OVER;
					case 'T' -> At.LEAVE;
					default -> At.REFUSED;
				};
			}
			this.id = this.number + "-" + this.attempts++;
			LocalQueueModel.this.stored = this.id;
			if (this.kind == 'X') {
				return At.STORE;
			}
			int token = LocalQueueModel.this.tokens += 1000;
			this.lease = new Lease(
					new Grant(new LeaseKey("name", this.id), token, token + 999, Instant.EPOCH, "test", false, null),
					TERMS, Thread.currentThread(), LeaseDeadline.from(STOPPED, TERMS.lease()), STOPPED);
			return At.GRANTED;
		}

		private boolean handOver() {
			LocalQueue queue = LocalQueueModel.this.queues.find(NAME);
			if (queue == null) {
				return false;
			}
			Waiter next = queue.handOver(lease(), this::keep);
			if (next != null) {
				Actor successor = LocalQueueModel.this.line.remove(0);
				check(successor.waiter == next, "Handed over out of turn");
				next.wake();
			}
			return next != null;
		}

		private LeaseHandle keep(Lease successor) {
			check(successor.token() > lease().token(), "The token did not rise");
			return new LeaseHandle(successor, null);
		}

		private At expire() {
			check(lease().state().endWith(LossReason.EXPIRED), "Ended twice");
			LocalQueueModel.this.stored = null;
			return At.LOST;
		}

		private At release() {
			check(this.id != null && this.id.equals(LocalQueueModel.this.stored), "Released what was not its own");
			LocalQueueModel.this.stored = null;
			LocalQueueModel.this.untold++;
			return (this.kind == 'X') ? At.OVER : At.TOLD;
		}

		private At quit() {
			this.quitting = true;
			boolean waiting = place().quit(waiter());
			LocalQueueModel.this.line.remove(this);
			LeasedLock handed = handed();
			if (waiting || handed == null) {
				return At.LEAVE;
			}
			this.lease = handed.lease();
			this.id = handed.lease().key().holder();
			return At.GIVE_UP;
		}

		private Waiter waiter() {
			return Objects.requireNonNull(this.waiter);
		}

		private LocalQueue place() {
			return Objects.requireNonNull(this.place);
		}

		private Lease lease() {
			return Objects.requireNonNull(this.lease);
		}

		@Override
		public String toString() {
			return this.kind + "" + this.number;
		}

	}

}
