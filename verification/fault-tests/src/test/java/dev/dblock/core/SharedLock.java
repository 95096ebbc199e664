package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.Lease.Grant;
import dev.dblock.core.lease.LeaseDeadline;
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
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;

/**
 * A lock of the real queues and a store in memory, with the calls that
 * {@link LockAcquirer} and {@link LeaseKeeper} make. Nobody's time runs out: who is
 * parked goes on only when it is woken. Public, as Lincheck's own classes call it.
 */
public class SharedLock {

	static final LeaseTerms TERMS = LocalQueueModel.TERMS;

	private static final String NAME = "name";

	private static final long NO_END = Duration.ofDays(1).toNanos();

	private static final PollPause.Plan WHEN_TOLD = new PollPause.Plan(new Outcome.Refused(null, null), 1,
			WaitCause.SLOW_POLL, Long.MAX_VALUE / 2);

	private final LocalQueues queues = new LocalQueues(new EngineSettings.HandOff(1, Duration.ofDays(1)), NO_END,
			(held) -> 0, () -> 0);

	private final Store store = new Store();

	private @Nullable Place impatient;

	private @Nullable Lease elsewhere;

	private @Nullable Lease inside;

	private long highest;

	private int sections;

	/**
	 * Wait for the lock, work and release it.
	 * @return how many have worked
	 */
	@Operation
	public int work() {
		Lease lease = await();
		int number = ++this.sections;
		section(lease);
		release(lease);
		return number;
	}

	/**
	 * Wait for the lock, and lose it by the end of the lease.
	 */
	@Operation
	public void workUntilTheEndOfTheLease() {
		Lease lease = await();
		section(lease);
		check(lease.state().endWith(LossReason.EXPIRED), "Ended twice");
		this.store.give(lease.token());
		this.queues.ended(lease);
	}

	/**
	 * Wait no longer than for one answer of the store.
	 */
	@Operation
	public void queueUp() {
		this.impatient = new Place();
		check(this.impatient.look() == null, "Somebody else has the lock");
	}

	/**
	 * Leave the line, and pass on what came in the meantime.
	 */
	@Operation
	public void giveUp() {
		Place place = Objects.requireNonNull(this.impatient);
		try {
			if (!place.quit()) {
				release(place.handed());
			}
		}
		finally {
			place.queue.leave();
		}
	}

	/**
	 * Try once, out of the line.
	 */
	@Operation
	public void workIfFree() {
		LocalQueue known = this.queues.find(NAME);
		if (known != null && (!known.present(1).isEmpty() || known.letsOthersGoFirst())) {
			return;
		}
		LocalQueue queue = this.queues.enter(NAME);
		Lease lease = null;
		try {
			lease = this.store.take();
			if (lease != null) {
				queue.granted(lease, null);
			}
		}
		finally {
			queue.leave();
		}
		if (lease != null) {
			section(lease);
			release(lease);
		}
	}

	/**
	 * Another process takes the lock.
	 */
	@Operation
	public void takeElsewhere() {
		this.elsewhere = Objects.requireNonNull(this.store.take());
	}

	/**
	 * The other process releases the lock, which is told here.
	 */
	@Operation
	public void giveBackElsewhere() {
		this.store.give(Objects.requireNonNull(this.elsewhere).token());
		this.queues.signal(NAME);
	}

	@Validate
	public void nothingIsLeft() {
		check(this.queues.find(NAME) == null, "A queue is left");
		check(this.store.isFree(), "The lock is left taken");
	}

	private Lease await() {
		Place place = new Place();
		try {
			Lease lease = place.look();
			while (lease == null) {
				if (place.pauses) {
					place.me.park();
				}
				lease = place.look();
			}
			return lease;
		}
		finally {
			place.queue.leave();
		}
	}

	private void section(Lease lease) {
		check(this.inside == null, "Two hold the lock");
		this.inside = lease;
		check(lease.token() > this.highest, "The token did not rise");
		this.highest = lease.token();
		check(this.inside == lease, "Two hold the lock");
		this.inside = null;
	}

	private void release(Lease lease) {
		if (!handOver(lease)) {
			giveBack(lease);
		}
	}

	private boolean handOver(Lease lease) {
		LocalQueue queue = this.queues.find(NAME);
		if (queue == null) {
			return false;
		}
		Waiter next = queue.handOver(lease, (successor) -> new LeaseHandle(successor, null));
		if (next != null) {
			next.wake();
		}
		return next != null;
	}

	private void giveBack(Lease lease) {
		check(lease.state().endWith(LossReason.RELEASED), "Ended twice");
		LocalQueue queue = this.queues.releasing(NAME);
		this.queues.ended(lease);
		this.store.give(lease.token());
		queue.released(0);
	}

	static void check(boolean condition, String rule) {
		if (!condition) {
			throw new IllegalStateException(rule);
		}
	}

	/**
	 * A thread's place in the queue, from the moment that it joined.
	 */
	private final class Place {

		private final PatientWaiter me = new PatientWaiter();

		private final LocalQueue queue = SharedLock.this.queues.join(NAME, this.me);

		private boolean pauses;

		@Nullable Lease look() {
			Turn turn = this.queue.turn(this.me, Long.MAX_VALUE, 0, "me");
			this.pauses = turn instanceof Turn.Park;
			if (this.pauses) {
				return null;
			}
			return (turn instanceof Turn.Take) ? handed() : ask();
		}

		private @Nullable Lease ask() {
			Lease lease = SharedLock.this.store.take();
			if (lease == null) {
				this.queue.refused(this.me, WHEN_TOLD);
			}
			else {
				this.queue.granted(lease, this.me);
			}
			return lease;
		}

		boolean quit() {
			return this.queue.quit(this.me);
		}

		Lease handed() {
			return Objects.requireNonNull(this.me.handed()).lease();
		}

	}

	/**
	 * Goes on only when it was woken: in Lincheck's model a parked thread may wake by
	 * itself, which would hide a wake-up that is lost.
	 */
	private static final class PatientWaiter extends Waiter {

		private volatile boolean woken;

		PatientWaiter() {
			super(TERMS);
		}

		@Override
		public void wake() {
			this.woken = true;
			super.wake();
		}

		void park() {
			while (!this.woken) {
				LockSupport.park(this);
			}
			this.woken = false;
		}

	}

	static final class Store {

		private static final int BLOCK = 1000;

		private @Nullable LeaseKey holder;

		private int grants;

		synchronized @Nullable Lease take() {
			if (this.holder != null) {
				return null;
			}
			long token = BLOCK * (long) ++this.grants;
			this.holder = new LeaseKey(NAME, "holder-" + this.grants);
			Grant grant = new Grant(this.holder, token, token + BLOCK - 1, Instant.EPOCH, "test", false, null);
			return new Lease(grant, TERMS, Thread.currentThread(),
					LeaseDeadline.from(LocalQueueModel.STOPPED, TERMS.lease()), LocalQueueModel.STOPPED);
		}

		/**
		 * Give back what was granted or handed on by the grant of a token.
		 */
		synchronized void give(long token) {
			check(this.holder != null && token / BLOCK == this.grants, "Released what was not its own");
			this.holder = null;
		}

		synchronized boolean isFree() {
			return this.holder == null;
		}

	}

	/**
	 * Of those who have the lock one after the other, only some count.
	 */
	public static class InSequence {

		private int sections;

		public int work() {
			return ++this.sections;
		}

		public void workUntilTheEndOfTheLease() {
			// Counts no section
		}

		public void queueUp() {
			// Counts no section
		}

		public void giveUp() {
			// Counts no section
		}

		public void workIfFree() {
			// Counts no section
		}

		public void takeElsewhere() {
			// Counts no section
		}

		public void giveBackElsewhere() {
			// Counts no section
		}

	}

}
