package dev.dblock.test.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockPage;
import dev.dblock.LockedTask;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob;
import dev.dblock.job.StoredJob.RunEnd;
import dev.dblock.job.schedule.ScheduledJobs;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.Permits;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * Locks of the application under test, and another instance that competes for them on
 * request:
 *
 * <pre class="code">
 * &#64;SpringBootTest
 * &#64;AutoConfigureDblock
 * class InvoicesTests {
 *
 *     &#64;Autowired
 *     TestLocks locks;
 *
 *     &#64;Test
 *     void areSkippedWhileAnotherInstanceWritesThem() {
 *         locks.holdElsewhere("nightly-invoices");
 *         ...
 * }
 * </pre>
 *
 * Names are those of the application, without the configured prefix. After each test
 * method, all locks of the other instance are released, and all recorded events are
 * discarded. Locks that the application itself holds remain held.
 */
public final class TestLocks implements AssertProvider<TestLocksAssert> {

	private static final Duration LEASE_ELSEWHERE = Duration.ofDays(1);

	private static final Duration LOSS_IS_TOLD = Duration.ofMinutes(1);

	private static final Duration LOSS_IS_RECORDED = Duration.ofSeconds(10);

	private final LockEngine engine;

	private final LocalLockStore store;

	private final LocalLockRepository elsewhere;

	private final LockRecorder recorder;

	private final @Nullable ScheduledJobs jobs;

	private final List<HeldElsewhere> held = new CopyOnWriteArrayList<>();

	TestLocks(LockEngine engine, LocalLockStore store, LockRecorder recorder, @Nullable ScheduledJobs jobs) {
		this.engine = engine;
		this.store = store;
		this.elsewhere = new LocalLockRepository(store);
		this.recorder = recorder;
		this.jobs = jobs;
	}

	/**
	 * Return a scheduled job by the name of its lock.
	 * @param name the name of the lock, if the job has no other id
	 * @return the job
	 */
	public TestJob job(String name) {
		return new TestJob(request(name, LEASE_ELSEWHERE), null);
	}

	/**
	 * Return a scheduled job with an id of its own.
	 * @param name the name of its lock
	 * @param jobId the id, as {@link dev.dblock.job.JobPolicy#id() @JobPolicy} declares
	 * it
	 * @return the job
	 */
	public TestJob job(String name, String jobId) {
		return new TestJob(request(name, LEASE_ELSEWHERE), jobId);
	}

	/**
	 * Have another instance hold a lock until it releases it or the test ends.
	 * @param name the name of the lock
	 * @return the lock as that instance holds it
	 * @throws IllegalStateException if the application or the other instance already
	 * holds it
	 * @throws IllegalArgumentException if the name is not valid
	 */
	public HeldElsewhere holdElsewhere(String name) {
		return holdElsewhere(name, LEASE_ELSEWHERE);
	}

	/**
	 * Have another instance acquire a lock without renewing it, so that its lease
	 * expires.
	 * @param name the name of the lock
	 * @param lease the length of the lease
	 * @return the lock as that instance holds it
	 * @throws IllegalStateException if the application or the other instance already
	 * holds it
	 * @throws IllegalArgumentException if the name is not valid, or the lease is not
	 * positive
	 */
	public HeldElsewhere holdElsewhere(String name, Duration lease) {
		if (lease.isNegative() || lease.isZero()) {
			throw new IllegalArgumentException(
					("Another instance can hold the lock '%s' only for a positive lease, not for %s. Pass a positive"
							+ " lease, and end it early with expire")
						.formatted(name, lease));
		}
		return acquire(request(name, lease));
	}

	/**
	 * Have another instance hold one of the permits of a lock until it releases it or the
	 * test ends.
	 * @param name the name of the lock
	 * @param permits how many permits the lock has
	 * @return the permit as that instance holds it
	 * @throws IllegalStateException if no permit is free
	 * @throws IllegalArgumentException if the name or the number is not valid
	 * @see LockOptions#permits(int)
	 */
	public HeldElsewhere holdPermitElsewhere(String name, int permits) {
		this.engine.check(name, LockOptions.defaults().permits(permits));
		LeaseKey key = LeaseKey.of(this.engine.fullName(name), UUID.randomUUID().toString(), permits);
		return acquire(request(key, LEASE_ELSEWHERE, false));
	}

	/**
	 * Have another instance hold all permits of a lock until it releases them or the test
	 * ends.
	 * @param name the name of the lock
	 * @param permits how many permits the lock has
	 * @return the permits as that instance holds them
	 * @throws IllegalStateException if one of the permits is not free; the others are
	 * then held
	 * @throws IllegalArgumentException if the name or the number is not valid
	 */
	public List<HeldElsewhere> holdAllPermitsElsewhere(String name, int permits) {
		List<HeldElsewhere> all = new ArrayList<>();
		do {
			all.add(holdPermitElsewhere(name, permits));
		}
		while (all.size() < permits);
		return all;
	}

	private HeldElsewhere acquire(AcquireRequest request) {
		AcquireAnswer answer = this.elsewhere.acquire(request);
		if (answer instanceof AcquireAnswer.Refused refused) {
			throw new IllegalStateException(
					("Another instance cannot hold the lock '%s': %s already holds it, for %s. Release it first, or"
							+ " take it away with lose")
						.formatted(refused.lock().name(), refused.lock().acquirer(), refused.lock().why()));
		}
		return remember(request.key().granted(((AcquireAnswer.Granted) answer).permit()));
	}

	/**
	 * Have another instance take over a lock, or the first of the permits that the
	 * application holds, from the application, as can happen when the lease expires
	 * during a long pause. When this method returns, the lock is lost: its handle reports
	 * the loss, the thread has been interrupted if it had asked for that, the listeners
	 * have returned, and no transaction under the lock can be committed.
	 * @param name the name of the lock
	 * @return the lock as the other instance now holds it
	 * @throws IllegalStateException if the application does not hold it
	 */
	public HeldElsewhere lose(String name) {
		String fullName = this.engine.fullName(name);
		LockHandle lost = this.recorder.held(fullName)
			.orElseThrow(() -> new IllegalStateException(
					"The lock '%s' cannot be lost, because the application does not hold it. It holds %s".formatted(
							fullName,
							this.engine.administration()
								.list(false, "", LockPage.LARGEST)
								.locks()
								.stream()
								.filter(LockInfo::held)
								.map(LockInfo::name)
								.toList())));
		int permits = this.engine.administration()
			.find(Permits.id(fullName, lost.permit()))
			.map(LockInfo::permits)
			.orElse(0);
		LeaseKey key = new LeaseKey(fullName, UUID.randomUUID().toString(), lost.permit(), permits);
		this.store.takeOver(request(key, LEASE_ELSEWHERE, permits == 0));
		HeldElsewhere taken = remember(key);
		notice(lost);
		return taken;
	}

	private void notice(LockHandle lost) {
		try {
			lost.renew();
		}
		catch (LockLostException ex) {
			awaitNotification(lost, ex);
		}
	}

	private void awaitNotification(LockHandle lost, LockLostException loss) {
		// The loss interrupts the thread that works under the lock, which may be this one
		boolean interrupted = Thread.interrupted();
		try {
			long end = System.nanoTime() + LOSS_IS_TOLD.toNanos();
			do {
				if (this.recorder.hasEnded(lost) && !isNotifying()) {
					return;
				}
				TimeUnit.MILLISECONDS.sleep(1);
			}
			while (end - System.nanoTime() > 0);
		}
		catch (InterruptedException ex) {
			interrupted = true;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
		throw new IllegalStateException(
				("The lock '%s' was lost, but its listeners were not notified within %s, or this thread was"
						+ " interrupted while it waited for that. Look for a listener, or an onLost callback, that"
						+ " does not return")
					.formatted(lost.name(), LOSS_IS_TOLD),
				loss);
	}

	/**
	 * Whether other listeners, which were called before the recorder, have yet to return.
	 */
	private boolean isNotifying() {
		return this.engine instanceof DefaultLockEngine own && own.state().callbacks() > 0;
	}

	/**
	 * End whatever blocks a lock without a holder, such as a minimum hold, as if its time
	 * were over.
	 * @param name the name of the lock
	 * @return whether the lock was blocked
	 */
	public boolean expire(String name) {
		return this.store.expire(this.engine.fullName(name));
	}

	/**
	 * Return whether the application holds a lock.
	 * @param name the name of the lock
	 * @return {@code true} while the application holds it, as far as it knows
	 */
	public boolean holds(String name) {
		return this.recorder.held(this.engine.fullName(name)).filter(LockHandle::isHeld).isPresent();
	}

	/**
	 * Have the other instance release all its locks, and discard all recorded events,
	 * including runs of jobs. Called after each test method.
	 */
	public void reset() {
		this.held.forEach(HeldElsewhere::release);
		this.held.clear();
		this.store.forgetJobs();
		this.recorder.clear();
	}

	/**
	 * Run a task as if it were run under a lock, without an application context and
	 * without locking. For unit tests of code that calls {@link dev.dblock.LockAssert} or
	 * {@link dev.dblock.LockContext}.
	 * @param name the full name of the lock
	 * @param task the task
	 */
	public static void pretendLocked(String name, LockedTask task) {
		EngineSettings settings = EngineSettings.defaults("test")
			.withDefaults(LockOptions.lease(LEASE_ELSEWHERE).autoRenew(false));
		new DefaultLockTemplate(LockEngine.unlocked(settings)).execute(name, task);
	}

	/**
	 * Return assertions for
	 * {@link org.assertj.core.api.Assertions#assertThat(AssertProvider)}.
	 * @return the assertions
	 */
	@Override
	public TestLocksAssert assertThat() {
		return new TestLocksAssert(this);
	}

	boolean awaitLoss(String name) {
		return this.recorder.await(LockRecorder.Kind.LOST, this.engine.fullName(name), LOSS_IS_RECORDED);
	}

	long count(LockRecorder.Kind kind, String name) {
		return this.recorder.count(kind, this.engine.fullName(name));
	}

	List<LockRecorder.Event> events() {
		return this.recorder.events();
	}

	/**
	 * Return a request of an instance that runs its work once more if it is asked to.
	 */
	private AcquireRequest request(String name, Duration lease) {
		return request(new LeaseKey(this.engine.fullName(name), UUID.randomUUID().toString()), lease, true);
	}

	private static AcquireRequest request(LeaseKey key, Duration lease, boolean askable) {
		return new AcquireRequest(key, lease, "another instance", "a thread of it", "a test", LOSS_IS_TOLD,
				AcquireRequest.USUAL_TOKENS, null, askable);
	}

	private HeldElsewhere remember(LeaseKey key) {
		HeldElsewhere taken = new HeldElsewhere(key);
		this.held.add(taken);
		return taken;
	}

	/**
	 * Lock that another, simulated instance of the application holds. To the application
	 * under test, it looks the same as a lock of a real instance. Ends with the test at
	 * the latest.
	 */
	public final class HeldElsewhere implements AutoCloseable {

		private final LeaseKey key;

		private HeldElsewhere(LeaseKey key) {
			this.key = key;
		}

		/**
		 * Return the full name of the lock, including the prefix.
		 * @return the name
		 */
		public String name() {
			return this.key.name();
		}

		/**
		 * Return the number of the permit, if the lock has several.
		 * @return the number; 1 for a plain lock
		 */
		public int permit() {
			return this.key.permit();
		}

		/**
		 * Have the other instance release the lock, which wakes waiting callers. A second
		 * call does nothing.
		 */
		public void release() {
			TestLocks.this.elsewhere.release(this.key, Duration.ZERO, FenceMark.KEEP, null, Duration.ZERO);
		}

		/**
		 * Have the lease of the other instance expire without a release, as if that
		 * instance had been killed. Waiting callers are woken.
		 */
		public void expire() {
			boolean still = TestLocks.this.elsewhere.find(this.key.id())
				.filter((lock) -> this.key.holder().equals(lock.holder()))
				.isPresent();
			if (still) {
				TestLocks.this.store.expire(this.key.id());
			}
		}

		/**
		 * Equivalent to {@link #release()}.
		 */
		@Override
		public void close() {
			release();
		}

	}

	/**
	 * Scheduled job of the application under test. A test calls it as a scheduler does,
	 * and plays the other instances:
	 *
	 * <pre class="code">
	 * TestJob job = locks.job("nightly-invoices");
	 * job.runElsewhere(plannedAt);
	 * assertThatIllegalStateException().isThrownBy(() -> job.fire(plannedAt, invoices::write));
	 * job.fire(plannedAt.plus(Duration.ofDays(1)), invoices::write);
	 * assertThat(job.runs()).hasSize(2);
	 * </pre>
	 *
	 * Planned times may lie in the past, but each must be later than the one before. All
	 * run records are discarded after each test method. The job's real schedules do not
	 * run, unless {@code dblock.test.run-schedules} is {@code true}.
	 */
	public final class TestJob {

		private final AcquireRequest request;

		private final String jobId;

		private TestJob(AcquireRequest request, @Nullable String jobId) {
			this.request = request;
			this.jobId = (jobId != null) ? jobId : request.key().name();
		}

		/**
		 * Have another instance run a planned time successfully.
		 * @param plannedAt the planned time
		 * @throws IllegalStateException if the planned time was run before or is in the
		 * future, or if the job is paused or its lock is held
		 */
		public void runElsewhere(Instant plannedAt) {
			JobFiring firing = JobFiring.of(this.jobId, new Schedule.Planned(plannedAt), false);
			if (TestLocks.this.elsewhere
				.acquire(this.request.withClaim(firing)) instanceof AcquireAnswer.Refused refused) {
				throw new IllegalStateException("Another instance cannot run the job '%s' for %s: %s".formatted(
						this.jobId, plannedAt,
						(refused.verdict() instanceof JobRefusal refusal) ? refusal.reason() : "its lock is held"));
			}
			TestLocks.this.elsewhere.release(this.request.key(), Duration.ZERO, FenceMark.KEEP,
					new RunEnd(this.jobId, JobRun.Outcome.SUCCEEDED, null), this.request.timeout());
		}

		/**
		 * Call the job as a scheduler does for a planned time, and wait for the answer to
		 * its request. The exception of the call, if any, is thrown.
		 * @param plannedAt the planned time
		 * @param call the call of the job's method, through its proxy
		 * @throws IllegalStateException if the job did not run, with the reason: this
		 * planned time or a later one was run, it is more than 250 ms in the future, the
		 * job is paused, its lock is not available, or the call reached no job. Also,
		 * before the call, if the job is not scheduled in this test, because scheduling
		 * is off, its cron expression is {@code "-"}, or
		 * {@code dblock.once-per-planned-time} is {@code false}
		 */
		public void fire(Instant plannedAt, LockedTask call) {
			if (TestLocks.this.jobs == null) {
				throw new IllegalStateException(
						("The job '%s' cannot be called for a planned time, because this test has"
								+ " no scheduled jobs. Leave dblock.once-per-planned-time on")
							.formatted(this.jobId));
			}
			// Before the call, which would run as one that is no job
			if (!TestLocks.this.jobs.canHave(this.jobId, this.request.key().name())) {
				throw new IllegalStateException(
						("The job '%s' is not scheduled in this test, so it cannot be called for"
								+ " a planned time. Check its name, enable scheduling, and give it a cron expression other than"
								+ " '-': its schedule does not run anyway, unless dblock.test.run-schedules is true")
							.formatted(this.jobId));
			}
			Thrown thrown = new Thrown();
			ManualRun fired = TestLocks.this.jobs.fire(plannedAt, () -> thrown.run(call));
			thrown.<RuntimeException>rethrow();
			if (fired == null) {
				throw new IllegalStateException(
						("The call for the planned time %s of the job '%s' reached no method with @Scheduled and"
								+ " @DistributedLock. Call the method through its proxy, which is the injected bean")
							.formatted(plannedAt, this.jobId));
			}
			if (fired.outcome() != ManualRun.Outcome.STARTED) {
				throw new IllegalStateException("The job '%s' did not run for the planned time %s. %s%s"
					.formatted(this.jobId, plannedAt, fired.description(), describeLater(plannedAt)));
			}
		}

		private String describeLater(Instant plannedAt) {
			return runs().stream()
				.findFirst()
				.map(JobRun::plannedAt)
				.filter((last) -> last.isAfter(plannedAt))
				.map((last) -> ". Its last run was planned for " + last
						+ "; each planned time must be later than the one before")
				.orElse("");
		}

		/**
		 * Pause the job, as an operator does.
		 */
		public void pause() {
			TestLocks.this.store.pause(this.request.key().name(), StoredJob.key(this.jobId), "a test");
		}

		/**
		 * Resume the job.
		 * @return whether it was paused
		 */
		public boolean resume() {
			return TestLocks.this.store.resume(this.request.key().name(), StoredJob.key(this.jobId));
		}

		/**
		 * Return the last runs on all instances, at most twenty.
		 * @return the runs, the latest first
		 */
		public List<JobRun> runs() {
			return TestLocks.this.store.find(this.request.key().name(), StoredJob.key(this.jobId), null)
				.map((record) -> ((JobStatus) record).runs())
				.orElse(List.of());
		}

		/**
		 * Carries the exception of a call through a {@link Runnable}, which cannot throw
		 * it.
		 */
		private static final class Thrown {

			private @Nullable Throwable thrown;

			void run(LockedTask call) {
				try {
					call.run();
				}
				catch (Throwable ex) {
					this.thrown = ex;
				}
			}

			@SuppressWarnings("unchecked")
			<E extends Throwable> void rethrow() throws E {
				if (this.thrown != null) {
					throw (E) this.thrown;
				}
			}

		}

	}

}
