package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.job.JobOperations.ManualRun.Outcome;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.JobMethod.Declaration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.QueryTimeoutException;

/**
 * A call by the scheduler. It is bound to the scheduler's thread until the first call of
 * the job's method takes it. Other calls in that thread are not firings.
 */
public final class ScheduledCall {

	private static final Logger logger = LoggerFactory.getLogger(ScheduledCall.class);

	/**
	 * How long a server may take to answer a repeated attempt, which occupies a thread of
	 * the scheduler. The limit is doubled after each attempt that it cut short, so that a
	 * slow server can answer.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(1250);

	private static final int MOST_DOUBLINGS = 20;

	private static final ThreadLocal<@Nullable ScheduledCall> BOUND = new ThreadLocal<>();

	private final JobTask task;

	private final @Nullable Schedule schedule;

	private final Attempt attempt;

	/** Receives the result of a call that an operator or a test requested. */
	private final @Nullable Consumer<ManualRun> requester;

	private final Map<Object, String> names;

	private final AtomicBoolean taken = new AtomicBoolean();

	private volatile @Nullable JobMethod method;

	private @Nullable Declaration declaration;

	private @Nullable JobFiring firing;

	private long sent;

	/** The calls of the method itself before the lock was granted. */
	private long callsBefore;

	private boolean answered;

	private boolean returned;

	private @Nullable JobRun run;

	private @Nullable LockRefusal refusal;

	private @Nullable RuntimeException failure;

	ScheduledCall(JobTask task, @Nullable Schedule schedule, Attempt attempt) {
		this(task, schedule, attempt, null, new ConcurrentHashMap<>());
	}

	/**
	 * Create a call for no planned time that an operator requested.
	 * @param operator receives the result
	 */
	ScheduledCall(JobTask task, Consumer<ManualRun> operator) {
		this(task, null, Attempt.first(null), operator, new ConcurrentHashMap<>());
	}

	/**
	 * Create a call for a planned time that a test requested.
	 * @param test receives the result
	 */
	ScheduledCall(JobTask task, Schedule.Planned planned, Consumer<ManualRun> test) {
		this(task, planned, Attempt.first(planned.at()), test, new ConcurrentHashMap<>());
	}

	private ScheduledCall(JobTask task, @Nullable Schedule schedule, Attempt attempt,
			@Nullable Consumer<ManualRun> requester, Map<Object, String> names) {
		this.task = task;
		this.schedule = schedule;
		this.attempt = attempt;
		this.requester = requester;
		this.names = names;
	}

	/**
	 * Return the call that repeats the request for a time that is still due after this
	 * one. A request without an answer may have been granted, so it is repeated with the
	 * same firing. Any other request is made with a new firing, since this one may still
	 * be retried.
	 */
	synchronized ScheduledCall again() {
		JobFiring inDoubt = (this.failure != null || this.attempt.inDoubt() != null) ? this.firing : null;
		return new ScheduledCall(this.task, this.schedule,
				new Attempt(this.attempt.asOf(), this.attempt.look(), this.attempt.earlier() + 1, timeouts(), inDoubt),
				null, this.names);
	}

	private int timeouts() {
		if (this.failure == null) {
			return this.attempt.timeouts();
		}
		return (this.attempt.isCutShort() && this.failure instanceof QueryTimeoutException)
				? this.attempt.timeouts() + 1 : 0;
	}

	/**
	 * Take the call that the scheduler makes in this thread, if it is a call of the given
	 * method.
	 * @param method the method
	 * @return the call; {@code null} if other code calls the method
	 */
	public static @Nullable ScheduledCall take(JobMethod method) {
		ScheduledCall call = BOUND.get();
		if (call == null || !call.isOf(method) || !call.taken.compareAndSet(false, true)) {
			return null;
		}
		call.method = method;
		return call;
	}

	/**
	 * Whether this is a call of a method.
	 * @param method the method
	 * @return whether it is
	 */
	public boolean isOf(JobMethod method) {
		return this.task.isOf(method);
	}

	/**
	 * Return the firing that this call is about to request.
	 * @param declaration the declaration of the job
	 * @return the same firing for each retry; {@code null} for a one-time task, which has
	 * no planned time
	 */
	public synchronized @Nullable JobFiring firing(Declaration declaration) {
		if (this.firing == null && this.schedule != null) {
			this.declaration = declaration;
			JobFiring inDoubt = this.attempt.inDoubt();
			JobFiring firing = (inDoubt != null) ? inDoubt
					: JobFiring.of(declaration.id(), this.schedule, declaration.rerun());
			this.firing = this.attempt.isCutShort() ? firing.answerWithin(patience(this.attempt.timeouts())) : firing;
			this.sent = this.task.nanoTime();
		}
		return this.firing;
	}

	/**
	 * Whether an earlier call requested the same planned time, or looked for a crashed
	 * run.
	 */
	boolean isRepeated() {
		return this.attempt.isCutShort();
	}

	/**
	 * Return the name of a lock, which is the same for all attempts at a planned time.
	 * Otherwise, a later attempt could be granted the planned time again under another
	 * name.
	 * @param lock the declaration of the lock
	 * @param name evaluates the name
	 * @return the name of the first attempt
	 */
	public String name(Object lock, Supplier<String> name) {
		return this.names.computeIfAbsent(lock, (key) -> name.get());
	}

	/**
	 * Report that the lock was granted.
	 * @param run the run that it was granted for; {@code null} if the engine knows none
	 */
	public void granted(@Nullable JobRun run) {
		JobMethod method = this.method;
		synchronized (this) {
			this.callsBefore = (method != null) ? method.calls() : 0;
		}
		report(Outcome.STARTED, "It has started");
		answered(run, null, null, (run != null) ? run.startedAt() : null);
	}

	/**
	 * Report that the work under the lock has ended without an exception. If the method
	 * itself was not called, its run is recorded as failed and not as abandoned: the
	 * method may still be called later, in another thread, and the planned time must not
	 * run twice.
	 * @param handle the lock, not yet released
	 */
	public void ended(LockHandle handle) {
		JobMethod method = this.method;
		if (method == null || method.calls() != callsBefore()) {
			return;
		}
		handle.runFailed(new IllegalStateException("The method was not called under its lock"));
		logger.warn("The job '{}' has not run{}: its lock was acquired, but {} was not called before the lock was"
				+ " released. Advice inside of the lock returned without calling it, such as a cache or a fallback, or"
				+ " calls it later in another thread. Remove that advice, or order it outside of the lock", method.id(),
				handle.run()
					.map((run) -> " for its planned time " + run.plannedAt() + ", which is recorded as failed")
					.orElse(""),
				method.place());
	}

	private synchronized long callsBefore() {
		return this.callsBefore;
	}

	/**
	 * Report that the lock was refused.
	 * @param refusal the refusal
	 * @return whether there is nothing to do for this firing: another one has the planned
	 * time, it is not due, the job is paused, an earlier call was answered already, or
	 * the answer goes to the operator that requested it
	 */
	public boolean refused(LockRefusal refusal) {
		report(Outcome.REFUSED, refusal.describe());
		answered(null, refusal, null, (refusal.job() != null) ? refusal.job().at() : null);
		return isFinal(refusal) || isRepeated() || isByOperator();
	}

	/**
	 * Report that the method is called without its lock, whose condition is false.
	 */
	public void unlocked() {
		report(Outcome.STARTED, "It has started without its lock, because the lock's condition is false");
		if (this.schedule != null) {
			this.task.answered(this.schedule);
		}
	}

	private void report(Outcome outcome, String description) {
		if (this.requester != null) {
			this.requester.accept(new ManualRun(outcome, description));
		}
	}

	private boolean isByOperator() {
		return this.requester != null && this.schedule == null;
	}

	private static boolean isFinal(LockRefusal refusal) {
		return refusal.job() != null && refusal.job().isFinal();
	}

	/**
	 * Report that the request for the lock failed.
	 * @param failure why
	 * @return whether the planned time remains due, so that there is nothing else to do
	 */
	public boolean failed(RuntimeException failure) {
		report(Outcome.FAILED, "The request for its lock failed: " + failure.getMessage());
		if (this.schedule == null || run() != null) {
			return false;
		}
		answered(null, null, failure, null);
		return true;
	}

	// The answer to a retry repeats the start of the run, so only the first one shows the
	// server's clock
	private void answered(@Nullable JobRun run, @Nullable LockRefusal refusal, @Nullable RuntimeException failure,
			@Nullable Instant serverTime) {
		boolean follow;
		synchronized (this) {
			if (serverTime != null && !this.answered) {
				this.task.learn(serverTime, this.sent);
			}
			this.answered = true;
			this.run = run;
			this.refusal = refusal;
			this.failure = failure;
			follow = this.returned;
		}
		noteInstance(run, (refusal != null && refusal.job() != null) ? refusal.job().last() : null);
		if (this.schedule != null && !isStillDue() && !isPlannedAgain(refusal)) {
			this.task.answered(this.schedule);
		}
		if (follow) {
			this.task.follow(this);
		}
	}

	private boolean isPlannedAgain(@Nullable LockRefusal refusal) {
		return this.schedule instanceof Schedule.Planned && refusal != null && refusal.job() != null
				&& refusal.job().reason() == JobRefusal.Reason.NOT_DUE;
	}

	private void noteInstance(@Nullable JobRun own, @Nullable JobRun others) {
		JobMethod method = this.method;
		JobRun run = (own != null) ? own : others;
		if (method != null && run != null) {
			method.lastRunBy(run, own != null);
		}
	}

	/**
	 * Call the method in this thread. If the answer arrives later, as for an asynchronous
	 * job, the task acts on it immediately.
	 */
	void run(Runnable method) {
		ScheduledCall outer = BOUND.get();
		BOUND.set(this);
		try {
			method.run();
		}
		finally {
			if (outer != null) {
				BOUND.set(outer);
			}
			else {
				BOUND.remove();
			}
		}
	}

	/**
	 * Whether there is an answer. If there is none yet, the task acts on it when it
	 * arrives.
	 */
	synchronized boolean isAnswered() {
		this.returned = true;
		return this.answered;
	}

	/**
	 * Return the time limit of a request that occupies a thread of the scheduler.
	 * @param timeouts how many of the previous requests were cut short, in a row
	 */
	static Duration patience(int timeouts) {
		return PATIENCE.multipliedBy(1L << Math.min(timeouts, MOST_DOUBLINGS));
	}

	@Nullable Schedule schedule() {
		return this.schedule;
	}

	/**
	 * Return the method that took the call; {@code null} before that.
	 */
	@Nullable JobMethod method() {
		return this.method;
	}

	synchronized @Nullable JobRun run() {
		return this.run;
	}

	synchronized @Nullable LockRefusal refusal() {
		return this.refusal;
	}

	synchronized @Nullable RuntimeException failure() {
		return this.failure;
	}

	synchronized boolean isRerun() {
		return this.firing != null && this.firing.rerun();
	}

	/**
	 * Return the declaration of the job; {@code null} before the lock was requested.
	 */
	synchronized @Nullable Declaration declaration() {
		return this.declaration;
	}

	Attempt attempt() {
		return this.attempt;
	}

	/**
	 * Whether this instance has to repeat the request, since the request to the server
	 * failed, or since the lock is held by something other than a run of this planned
	 * time. A periodic time that is due while the job runs is left to the next period.
	 */
	synchronized boolean isStillDue() {
		if (this.failure != null) {
			return true;
		}
		return this.refusal != null && !isFinal(this.refusal)
				&& (this.refusal.job() == null || this.schedule instanceof Schedule.Planned);
	}

	/**
	 * The position of a call among several attempts at a planned time.
	 *
	 * @param asOf the latest time that the schedule had planned then, if it plans
	 * instants; a later one supersedes the call
	 * @param look whether it only checks for a run that crashed
	 * @param earlier the number of attempts before
	 * @param timeouts how many of those were cut short by a time limit, in a row
	 * @param inDoubt the firing that earlier attempts requested without an answer, if any
	 */
	record Attempt(@Nullable Instant asOf, boolean look, int earlier, int timeouts, @Nullable JobFiring inDoubt) {

		static Attempt first(@Nullable Instant asOf) {
			return new Attempt(asOf, false, 0, 0, null);
		}

		static Attempt look(Instant asOf) {
			return new Attempt(asOf, true, 0, 0, null);
		}

		/**
		 * Whether the attempt is not the first one at a planned time. Then its firing has
		 * a time limit and does not wait for the lock, since it would occupy a thread of
		 * the scheduler.
		 */
		boolean isCutShort() {
			return this.look || this.earlier > 0;
		}

	}

}
