package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

import com.mongodb.MongoException;
import dev.dblock.LockContext;
import dev.dblock.LockException;
import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.engine.HeldLock;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobRun;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.simulation.scheduler.SimulatedThread;
import dev.dblock.store.Permits;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import org.springframework.dao.DataAccessException;

/**
 * The sections of one worker thread. Each is of a random kind.
 */
final class Work {

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final Duration LONG_LEASE = Duration.ofSeconds(20);

	private static final Duration WAIT = Duration.ofSeconds(30);

	private static final int PERIOD_MILLIS = 3000;

	private static final int SECOND = 1_000_000_000;

	/** The share of sections in which the calls of two threads for one handle meet. */
	private static final int MEETING_ONE_OF = 3;

	/** The share of sections with transactions, if the store has any. */
	private static final int FENCED_ONE_OF = 6;

	private static final int MORE_ROUNDS = 20;

	/** Some work does not check its lock, and is notified of the loss meanwhile. */
	private static final long UNAWARE_NANOS = TimeUnit.SECONDS.toNanos(30);

	/** Waiting threads of a process share an earlier failure. */
	private static final long REMEMBERED_NANOS = TimeUnit.SECONDS.toNanos(4);

	private static final long LONGEST_STOP_NANOS = TimeUnit.SECONDS.toNanos(7);

	/** Longer than any section can last. */
	private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(400);

	private final World world;

	private final Instance instance;

	private final SimulatedThread thread;

	private final Judge judge;

	private final Random random;

	private final LockTemplate template;

	Work(World world, Instance instance, SimulatedThread thread) {
		this.world = world;
		this.instance = instance;
		this.thread = thread;
		this.judge = world.judge();
		this.random = world.scheduler().random();
		this.template = instance.template();
	}

	/**
	 * Do some work of a random kind. Failures of locking are expected, others are not.
	 */
	void section() {
		Kind kind = (this.random.nextInt(MEETING_ONE_OF) == 0) ? Kind.CLOSE_DURING_EXTENSION
				: Kind.ALL.get(this.random.nextInt(Kind.ALL.size()));
		if (this.world.store().ledger(this.instance) != null && this.random.nextInt(FENCED_ONE_OF) == 0) {
			kind = Kind.FENCED_COMMITS;
		}
		this.world.journal().count("work: " + kind.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '));
		try {
			kind.work.section(this, name());
		}
		catch (Throwable ex) {
			this.world.journal().add(this.thread.name() + " failed in " + kind + ": " + ex.getClass().getSimpleName());
			if (!isExpected(ex)) {
				this.world.journal()
					.violation("%s failed with %s at %s".formatted(kind, ex, List.of(ex.getStackTrace())), this.thread);
			}
		}
		if (LockContext.current().isPresent()) {
			this.world.journal().violation(this.thread.name() + " has a lock after its section, " + kind, this.thread);
		}
		Thread.interrupted();
	}

	static boolean isExpected(Throwable ex) {
		return ex instanceof LockException || ex instanceof DataAccessException || ex instanceof MongoException
				|| ex instanceof InterruptedException || ex instanceof ConcurrentModificationException
				|| ex instanceof ExpectedFailure || String.valueOf(ex.getMessage()).contains("too short to be renewed");
	}

	private String name() {
		return this.random.nextBoolean() ? "orders" : "stock";
	}

	private LockOptions options() {
		LockOptions options = LockOptions.lease(LEASE).waitUpTo(WAIT);
		return switch (this.random.nextInt(12)) {
			case 0 -> options.maxHold(Duration.ofSeconds(1));
			case 1 -> options.minHold(Duration.ofMillis(800));
			case 2 -> options.autoRenew(false);
			case 3 -> options.whenLost(WhenLost.INTERRUPT);
			case 4 -> options.waitUpTo(millis(900));
			case 5 -> options.withLease(Duration.ofMillis(300)).autoRenew(false);
			case 6 -> options.minHold(Duration.ofMillis(1000)).maxHold(Duration.ofMillis(1200));
			default -> options;
		};
	}

	private Duration millis(int most) {
		return Duration.ofMillis(this.random.nextInt(most));
	}

	private void pause(int mostNanos) {
		this.world.scheduler().pause(this.random.nextInt(mostNanos));
	}

	private ObservedLock acquire(String name, LockOptions options) {
		List<String> wanted = Permits.ids(name, (options.permits() != null) ? options.permits() : 1);
		wanted.forEach((id) -> this.instance.waiting(id, 1));
		long began = this.world.scheduler().now();
		LockHandle handle;
		try {
			handle = this.template.acquire(name, options);
		}
		catch (DataAccessException ex) {
			requireTrouble("a wait of %s failed with %s".formatted(this.thread, ex), began - REMEMBERED_NANOS);
			throw ex;
		}
		finally {
			wanted.forEach((id) -> this.instance.waiting(id, -1));
		}
		return this.judge.entered(this.instance, handle);
	}

	/**
	 * Check that something has gone wrong since the given time.
	 */
	private void requireTrouble(String what, long since) {
		if (!this.instance.process().isTroubledSince(since) && !this.instance.isClosing()) {
			this.world.journal().violation(what + " without a cause", this.thread);
		}
	}

	/**
	 * Work until the lock is lost. At a shutdown, work lasts longer.
	 */
	private void work(ObservedLock lock, int rounds, int mostNanos) {
		for (int i = this.random.nextInt(rounds); i >= 0 || i > -MORE_ROUNDS && this.instance.isClosing(); i--) {
			pause(mostNanos);
			if (!this.judge.isHeld(lock)) {
				if (this.random.nextInt(10) == 0) {
					this.world.scheduler().pause(UNAWARE_NANOS);
				}
				return;
			}
		}
	}

	private void close(ObservedLock lock) {
		end(lock, () -> {
			try {
				lock.handle().close();
				return true;
			}
			catch (LockLostException ex) {
				return false;
			}
		});
	}

	/**
	 * Release a lock. Sometimes a thread that may wait for it is interrupted just then.
	 * @param release returns whether the lock was held until then
	 */
	private void end(ObservedLock lock, BooleanSupplier release) {
		this.judge.closing(lock);
		if (this.random.nextInt(8) == 0) {
			this.instance.interruptWorker();
		}
		boolean held = true;
		try {
			held = release.getAsBoolean();
		}
		finally {
			this.judge.closed(lock, !held);
		}
	}

	private void under(ObservedLock lock, Action work) throws Throwable {
		try {
			work.run();
		}
		finally {
			close(lock);
		}
	}

	private void hold(String name) throws Throwable {
		LockOptions options = options();
		long began = this.world.scheduler().now();
		ObservedLock lock = acquire(name, options);
		if (options.minHold() != null) {
			this.judge.holdsAtLeast(lock, options.minHold());
		}
		under(lock, () -> work(lock, 5, 1_200_000_000));
		if (lock.isClosedAsLost() && options.maxHold() == null && !Boolean.FALSE.equals(options.autoRenew())) {
			requireTrouble(lock + " was lost", began);
		}
	}

	private void tryOnce(String name) throws Throwable {
		LockHandle handle = this.template.tryAcquire(name, LockOptions.lease(LEASE)).orElse(null);
		if (handle != null) {
			ObservedLock lock = this.judge.entered(this.instance, handle);
			under(lock, () -> work(lock, 3, SECOND / 2));
		}
	}

	private void holdBoth(String name) {
		List<String> names = name.equals("stock") ? List.of("stock", "orders") : List.of("orders", "stock");
		try (LockHandles handles = this.template.acquireAll(names, options())) {
			List<ObservedLock> parts = new ArrayList<>();
			handles.handles().values().forEach((part) -> parts.add(this.judge.working(this.instance, part)));
			for (int i = 0; i < 3; i++) {
				parts.forEach((part) -> work(part, 1, SECOND / 2));
			}
		}
	}

	/**
	 * Acquire both locks while one of them is held.
	 */
	private void holdBothWithinOne(String name) throws Throwable {
		within(name, (lock) -> {
			Optional<LockHandles> both = this.template.tryAcquireAll(List.of("orders", "stock"),
					LockOptions.lease(LEASE).waitUpTo(Duration.ofSeconds(5)));
			if (both.isPresent()) {
				try (LockHandles handles = both.get()) {
					work(lock, 3, SECOND / 3);
					handles.ensureHeld();
				}
			}
		});
	}

	private void within(String name, WorkUnderLock work) throws Throwable {
		ObservedLock lock = acquire(name, options());
		under(lock, () -> this.template.within(lock.handle(), () -> {
			work.run(lock);
			return true;
		}));
	}

	private void reenter(String name) throws Throwable {
		within(name, (lock) -> {
			work(lock, 2, SECOND / 2);
			LockOptions longer = LockOptions.lease(Duration.ofSeconds(1 + this.random.nextInt(6)))
				.autoRenew(this.random.nextBoolean());
			this.template.execute(name, longer, () -> work(lock, 3, 1_500_000_000));
			this.template.executeAll(List.of("orders", "stock"),
					LockOptions.lease(LEASE).waitUpTo(Duration.ofSeconds(10)), () -> work(lock, 3, SECOND / 2));
		});
	}

	private ObservedLock current() {
		return this.judge.working(this.instance, LockContext.current().orElseThrow());
	}

	private void execute(String name) {
		this.template.execute(name, options(), () -> {
			work(current(), 3, SECOND);
			if (this.random.nextInt(6) == 0) {
				throw new ExpectedFailure();
			}
		});
	}

	/**
	 * Begin work of another thread under the lock of this thread, which is not released
	 * before that work ends.
	 */
	private CompletionStage<Integer> beginOwning() {
		ObservedLock lock = current();
		return begin().whenComplete((result, ex) -> {
			try {
				lock.handle().ensureHeld();
			}
			catch (LockLostException lost) {
				if (lost.reason() == LossReason.RELEASED) {
					this.world.journal().violation(lock + " was released during its work", this.thread);
				}
			}
			catch (RuntimeException unknown) {
				this.world.journal().add("it is unknown whether " + lock + " is held");
			}
		});
	}

	/**
	 * Begin work of another thread under the lock of this thread.
	 */
	private CompletionStage<Integer> begin() {
		ObservedLock lock = current();
		boolean fails = this.random.nextInt(5) == 0;
		CompletableFuture<Integer> future = new CompletableFuture<>();
		this.world.scheduler().start(this.instance.process(), "future", () -> {
			work(lock, 3, 700_000_000);
			if (fails) {
				future.completeExceptionally(new ExpectedFailure());
			}
			else {
				future.complete(1);
			}
		});
		return future;
	}

	private void future(String name) {
		CompletionStage<Integer> stage = this.template.executeAsync(name, options(), this::beginOwning);
		if (stage != null) {
			CompletableFuture<Integer> future = stage.toCompletableFuture();
			if (this.random.nextInt(4) == 0) {
				pause(800_000_000);
				future.cancel(true);
			}
			awaitDone(future, "future");
		}
	}

	private void awaitDone(CompletableFuture<?> future, String what) {
		long began = this.world.scheduler().now();
		while (!future.isDone()) {
			this.world.scheduler().pause(50_000_000);
			if (this.world.scheduler().now() - began > STUCK_NANOS) {
				this.world.journal()
					.violation("a %s of %s never ends".formatted(what, this.thread.name()), this.thread);
				return;
			}
		}
	}

	private void futureOfHandle(String name) throws Throwable {
		within(name, (lock) -> {
			CompletionStage<Integer> stage = this.template.executeAsync(name, LockOptions.lease(Duration.ofSeconds(3)),
					this::begin);
			work(lock, 2, 300_000_000);
			if (stage != null && this.random.nextBoolean()) {
				awaitDone(stage.toCompletableFuture(), "future");
			}
		});
	}

	private void futureOfCall(String name) {
		this.template.execute(name, options(), () -> {
			CompletionStage<Integer> stage = this.template.executeAsync(name, options(), this::beginOwning);
			pause(SECOND / 2);
			return (stage != null) ? 1 : 0;
		});
	}

	private void extend(String name) throws Throwable {
		ObservedLock lock = acquire(name, options());
		under(lock, () -> {
			for (int i = 0; i < 3 && this.judge.isHeld(lock); i++) {
				change(lock.handle());
				work(lock, 3, 900_000_000);
			}
		});
	}

	private void change(LockHandle handle) {
		switch (this.random.nextInt(6)) {
			case 0 -> handle.extend(Duration.ofMillis(500).plus(millis(5000)));
			case 1 -> ((HeldLock) handle).extendExactly(Duration.ofMillis(200).plus(millis(3000)), millis(200));
			case 2 -> handle.renew();
			case 3 -> handle.stopRenewal();
			case 4 -> handle.startRenewal();
			default -> handle.ensureHeld();
		}
	}

	/**
	 * Close a handle in another thread at any time, whatever this thread does with it.
	 */
	private void closeElsewhere(String name) {
		ObservedLock lock = acquire(name, options());
		this.world.scheduler().start(this.instance.process(), "closer", () -> {
			pause(900_000_000);
			try {
				((HeldLock) lock.handle()).extendExactly(Duration.ofMillis(900), Duration.ZERO);
			}
			catch (LockException | DataAccessException ex) {
				this.world.journal().add(lock + " was not extended");
			}
			finally {
				close(lock);
			}
		});
		try {
			for (int i = 0; i < 20 && this.judge.isHeld(lock); i++) {
				switch (this.random.nextInt(4)) {
					case 0 -> lock.handle().renew();
					case 1 -> lock.handle().extend(Duration.ofSeconds(3));
					case 2 -> ((HeldLock) lock.handle()).extendExactly(Duration.ofMillis(300), Duration.ZERO);
					default -> lock.handle().ensureHeld();
				}
			}
		}
		finally {
			awaitClosed(lock);
		}
	}

	/**
	 * Let a close and an extension meet while others wait, or be one of those. The lease
	 * is long, so that no renewal notices soon what went wrong.
	 */
	private void closeDuringExtension(String name) throws Throwable {
		ObservedLock lock = acquire("extended", LockOptions.lease(LONG_LEASE).waitUpTo(WAIT));
		if (this.random.nextBoolean()) {
			under(lock, () -> work(lock, 3, 2 * SECOND));
			return;
		}
		int gap = this.random.nextInt(3_000_000);
		this.world.scheduler().start(this.instance.process(), "closer", () -> {
			this.world.scheduler().pause(gap);
			close(lock);
		});
		try {
			this.world.scheduler().pause(gap);
			if (this.random.nextInt(4) != 0) {
				((HeldLock) lock.handle()).extendExactly(Duration.ofMillis(50), Duration.ZERO);
			}
			else {
				lock.handle().extend(Duration.ofSeconds(20));
			}
		}
		finally {
			awaitClosed(lock);
		}
	}

	private void awaitClosed(ObservedLock lock) {
		while (!lock.isClosed()) {
			this.world.scheduler().pause(10_000_000);
		}
	}

	private void force(String name) throws Throwable {
		ObservedLock lock = acquire("forced", options());
		under(lock, () -> {
			int way = this.random.nextInt(4);
			if (way == 0) {
				this.template.forceRelease("forced");
			}
			else if (way == 1) {
				this.template.forceReleaseNow("forced");
			}
			work(lock, 4, 900_000_000);
		});
	}

	private void keepUntilShutdown(String name) throws Throwable {
		ObservedLock lock = acquire(name, LockOptions.lease(LEASE).waitUpTo(WAIT));
		under(lock, () -> {
			lock.keeping();
			lock.handle().keepUntilShutdown();
			if (!this.instance.isClosing()) {
				lock.kept();
			}
			work(lock, 4, SECOND / 2);
		});
	}

	private void lockView(String name) throws InterruptedException {
		Lock lock = this.template.asLock(name, LockOptions.lease(LEASE));
		if (lock.tryLock(20, TimeUnit.SECONDS)) {
			boolean again = false;
			try {
				again = lock.tryLock();
				pause(900_000_000);
			}
			finally {
				try {
					if (again) {
						lock.unlock();
					}
				}
				finally {
					lock.unlock();
				}
			}
		}
	}

	private void release(String name) {
		ObservedLock lock = acquire(name, options());
		end(lock, lock.handle()::release);
		if (lock.handle().release()) {
			this.world.journal().violation(lock + " was released twice", this.thread);
		}
	}

	private void sequence(String name) {
		CompletableFuture<Integer> ended = new CompletableFuture<>();
		Mono<Integer> sequence = ReactiveLockTemplate.of(this.template)
			.execute(name, options(), () -> Mono.create((sink) -> begin().whenComplete((result, ex) -> {
				if (ex != null) {
					sink.error(ex);
				}
				else {
					sink.success(result);
				}
			})), (refusal) -> Mono.error(refusal.toException()));
		Disposable subscription = sequence.subscribe(ended::complete, ended::completeExceptionally,
				() -> ended.complete(0));
		if (this.random.nextBoolean()) {
			pause(this.random.nextBoolean() ? SECOND / 100 : 1_500_000_000);
			subscription.dispose();
		}
		else {
			awaitDone(ended, "sequence");
		}
	}

	/**
	 * Run a job for a planned time that the other instances ask for as well.
	 */
	private void plannedTime(String name) throws Throwable {
		long millis = this.world.serverTime().toEpochMilli();
		Instant planned = Instant.ofEpochMilli(millis - millis % PERIOD_MILLIS);
		LockOptions options = LockOptions.lease(LEASE)
			.waitUpTo(this.random.nextBoolean() ? Duration.ZERO : WAIT)
			.claim(JobFiring.at(planned));
		LockHandle handle = this.template.tryAcquire("report", options).orElse(null);
		if (handle != null) {
			ObservedLock lock = this.judge.entered(this.instance, handle);
			under(lock, () -> {
				JobRun.of(handle).ifPresent((run) -> this.world.plannedTimes().begun(this.instance, run, false, true));
				work(lock, 2, SECOND / 2);
			});
		}
	}

	/**
	 * Hold one or two permits. Their number differs, as during a rolling update.
	 */
	private void permits(String name) throws Throwable {
		LockOptions options = options().permits((this.random.nextInt(4) == 0) ? 3 : 2);
		ObservedLock lock = acquire("export", options);
		under(lock, () -> {
			work(lock, 3, SECOND);
			LockHandle second = this.template.tryAcquire("export", LockOptions.lease(LEASE).permits(3)).orElse(null);
			if (second != null) {
				ObservedLock another = this.judge.entered(this.instance, second);
				under(another, () -> work(another, 2, SECOND / 2));
			}
			if (this.random.nextInt(8) == 0) {
				requireRefused("export");
			}
		});
	}

	/**
	 * Check that a plain lock is not granted beside permits.
	 */
	private void requireRefused(String name) {
		this.template.tryAcquire(name, LockOptions.lease(LEASE)).ifPresent((handle) -> {
			this.world.journal().violation("a plain lock was granted beside permits", this.thread);
			handle.close();
		});
	}

	/**
	 * Bring something up to date, or let the holder do it once more.
	 */
	private void runAgain(String name) {
		RequestedRuns requested = this.world.requestedRuns();
		for (int i = this.random.nextInt(4); i >= 0; i--) {
			long called = this.world.scheduler().now();
			LockHandle[] held = new LockHandle[1];
			boolean ran = true;
			try {
				ran = this.template.executeOrRunAgain(RequestedRuns.NAME, LockOptions.lease(LEASE), () -> {
					ObservedLock lock = current();
					requested.begun(lock);
					held[0] = lock.handle();
					work(lock, 3, SECOND / 2);
					if (this.random.nextInt(6) == 0) {
						throw new ExpectedFailure();
					}
				});
			}
			catch (ExpectedFailure ex) {
				this.world.journal().add("the last run of " + this.thread.name() + " failed");
			}
			if (!ran) {
				requested.asked(called);
			}
			else if (!Thread.currentThread().isInterrupted()) {
				requested.ended(held[0].token());
			}
			pause(SECOND / 3);
		}
	}

	/**
	 * Commit transactions, each with a session of its own, since a session keeps its
	 * slot. The process is often stopped before the fence or before the commit.
	 */
	private void fencedCommits(String name) throws Throwable {
		Ledger ledger = this.world.store().ledger(this.instance);
		ObservedLock lock = acquire(name, LockOptions.lease(LEASE).waitUpTo(WAIT));
		under(lock, () -> {
			for (int i = this.random.nextInt(3); i >= 0 && ledger != null; i--) {
				ledger.write(lock, this.random.nextInt(4) == 0, this::stopSoon);
			}
		});
	}

	private void stopSoon() {
		if (this.world.network().isFaulty() && this.random.nextInt(4) == 0) {
			this.world.scheduler()
				.after(this.random.nextInt(SECOND / 50),
						() -> this.instance.stop(this.random.nextLong(LONGEST_STOP_NANOS), false));
		}
		pause(SECOND / 50);
	}

	private void inspect(String name) {
		this.template.inspect(name);
		this.template.list();
	}

	/**
	 * A kind of work.
	 */
	private enum Kind {

		HOLD(Work::hold), HOLD_AGAIN(Work::hold), TRY_ONCE(Work::tryOnce), HOLD_BOTH(Work::holdBoth),
		HOLD_BOTH_WITHIN_ONE(Work::holdBothWithinOne), REENTER(Work::reenter), EXECUTE(Work::execute),
		FUTURE(Work::future), FUTURE_OF_HANDLE(Work::futureOfHandle), FUTURE_OF_CALL(Work::futureOfCall),
		EXTEND(Work::extend), CLOSE_ELSEWHERE(Work::closeElsewhere), CLOSE_DURING_EXTENSION(Work::closeDuringExtension),
		FORCE(Work::force), KEEP_UNTIL_SHUTDOWN(Work::keepUntilShutdown), LOCK_VIEW(Work::lockView),
		RELEASE(Work::release), SEQUENCE(Work::sequence), PLANNED_TIME(Work::plannedTime), INSPECT(Work::inspect),
		RUN_AGAIN(Work::runAgain), PERMITS(Work::permits), FENCED_COMMITS(Work::fencedCommits);

		/** All that any store has. */
		private static final List<Kind> ALL = List.of(values()).subList(0, FENCED_COMMITS.ordinal());

		private final Section work;

		Kind(Section work) {
			this.work = work;
		}

	}

	/**
	 * Work of one kind.
	 */
	@FunctionalInterface
	private interface Section {

		void section(Work work, String name) throws Throwable;

	}

	/**
	 * Work that can fail.
	 */
	@FunctionalInterface
	private interface Action {

		void run() throws Throwable;

	}

	/**
	 * Work under a lock.
	 */
	@FunctionalInterface
	private interface WorkUnderLock {

		void run(ObservedLock lock) throws Throwable;

	}

	/**
	 * The failure of work, not of its lock.
	 */
	static final class ExpectedFailure extends RuntimeException {

		private static final long serialVersionUID = 1L;

		ExpectedFailure() {
			super("simulated");
		}

	}

}
