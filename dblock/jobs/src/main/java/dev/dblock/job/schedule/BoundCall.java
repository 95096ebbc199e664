package dev.dblock.job.schedule;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
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
import dev.dblock.job.schedule.Answer.Asked;
import dev.dblock.job.schedule.JobMethod.Declaration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call by the scheduler. It is bound to the scheduler's thread until the first call of
 * the job's method takes it, and moves with that call to the lock. Other calls in that
 * thread are not firings.
 */
public final class BoundCall {

	private static final Logger logger = LoggerFactory.getLogger(BoundCall.class);

	private static final ThreadLocal<@Nullable BoundCall> BOUND = new ThreadLocal<>();

	private final JobTask task;

	private final JobRequest request;

	/**
	 * Receives the result of a call that an operator or a test requested. The task does
	 * not act on its answer.
	 */
	private final @Nullable Consumer<ManualRun> requester;

	private final Map<Object, String> names;

	/** The method that took the call. */
	private final AtomicReference<@Nullable JobMethod> method = new AtomicReference<>();

	private final AtomicReference<@Nullable Asked> asked = new AtomicReference<>();

	/** The calls of the method itself before the lock was granted. */
	private volatile long callsBefore;

	/** The latest answer: advice around the lock can repeat the request. */
	private final AtomicReference<@Nullable Answer> answer = new AtomicReference<>();

	/** Whether the task has yet to act on the latest answer. */
	private final AtomicBoolean unfollowed = new AtomicBoolean();

	private volatile boolean returned;

	BoundCall(JobTask task, JobRequest request) {
		this(task, request, null);
	}

	/**
	 * Create a call that an operator or a test requested.
	 * @param requester receives the result
	 */
	BoundCall(JobTask task, JobRequest request, @Nullable Consumer<ManualRun> requester) {
		this.task = task;
		this.request = request;
		this.requester = requester;
		this.names = new ConcurrentHashMap<>(request.names());
	}

	/**
	 * Call the method in this thread. If the answer arrives later, as for an asynchronous
	 * job, the task acts on it immediately.
	 */
	void run(Runnable method) {
		BoundCall outer = BOUND.get();
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
			this.returned = true;
			follow();
		}
	}

	/**
	 * Take the call that the scheduler makes in this thread, if it is a call of the given
	 * method.
	 * @param method the method
	 * @return the call; {@code null} if other code calls the method
	 */
	public static @Nullable BoundCall take(JobMethod method) {
		BoundCall call = BOUND.get();
		JobMethod own = (call != null) ? call.own(method) : null;
		if (own != null && own.isSharded() && call.requester != null && !call.isTaken()) {
			throw new IllegalStateException(
					method.place() + ": has shards, which only a schedule fires. In a test, call"
							+ " what the method calls for one shard");
		}
		return (call != null && own != null && call.method.compareAndSet(null, own)) ? call : null;
	}

	/**
	 * Return the method, or the shard of it, that this is a call of.
	 */
	private @Nullable JobMethod own(JobMethod method) {
		return this.task.methods().stream().filter((each) -> each.isOf(method)).findFirst().orElse(null);
	}

	/**
	 * Whether this is a call of a method.
	 * @param method the method
	 * @return whether it is
	 */
	public boolean isOf(JobMethod method) {
		return own(method) != null;
	}

	boolean isTaken() {
		return this.method.get() != null;
	}

	/**
	 * Return the name of a lock, which is the same for all requests for a planned time.
	 * @param lock the declaration of the lock
	 * @param name evaluates the name
	 * @return the name of the first request; that of its own lock for a shard
	 */
	public String name(Object lock, Supplier<String> name) {
		JobMethod method = this.method.get();
		return (method != null && method.isShard()) ? method.declaration().template()
				: this.names.computeIfAbsent(lock, (key) -> name.get());
	}

	/**
	 * Return the declaration of the job, or of the shard, that this is a call of.
	 * @return the declaration
	 */
	public Declaration declaration() {
		return Objects.requireNonNull(this.method.get()).declaration();
	}

	/**
	 * Return the firing that this call is about to request.
	 * @param declaration the declaration of the job, or of its shard
	 * @return the same firing for each retry; {@code null} for a one-time task, which has
	 * no planned time
	 */
	public @Nullable JobFiring firing(Declaration declaration) {
		Schedule schedule = this.request.schedule();
		if (schedule == null) {
			return null;
		}
		Asked asked = this.asked.get();
		if (asked == null) {
			JobMethod method = Objects.requireNonNull(this.method.get());
			JobFiring firing = this.request.firing(declaration, schedule, this.requester == null,
					this.task.plans().text());
			if (schedule instanceof Schedule.Planned planned) {
				firing = firing.whenInDoubt((failure) -> method.doubtful().failed(planned.at(), failure));
			}
			this.asked.compareAndSet(null, new Asked(method, declaration, firing, this.task.nanoTime()));
			asked = Objects.requireNonNull(this.asked.get());
		}
		return asked.firing();
	}

	/**
	 * Report that the lock was granted.
	 * @param run the run that it was granted for; {@code null} if the engine knows none
	 */
	public void granted(@Nullable JobRun run) {
		if (run != null && run.shard() > run.shards()) {
			throw new IllegalStateException("The planned time %s has no shard %d, since it has %d of them"
				.formatted(run.plannedAt(), run.shard(), run.shards()));
		}
		JobMethod method = this.method.get();
		this.callsBefore = (method != null) ? method.calls() : 0;
		report(Outcome.STARTED, "It has started");
		answered(run, null, null);
	}

	/**
	 * Report that the work under the lock has ended without an exception. If the method
	 * itself was not called, its run is recorded as failed and not as abandoned: the
	 * method may still be called later, in another thread, and the planned time must not
	 * run twice.
	 * @param handle the lock, not yet released
	 */
	public void ended(LockHandle handle) {
		JobMethod method = this.method.get();
		if (method == null || method.calls() != this.callsBefore) {
			return;
		}
		// The run of an interrupted thread would be repeated
		boolean interrupted = Thread.interrupted();
		handle.runFailed(new IllegalStateException("The method was not called under its lock"));
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		logger.warn("The job '{}' has not run{}: its lock was acquired, but {} was not called before the lock was"
				+ " released. Advice inside of the lock returned without calling it, such as a cache or a fallback, or"
				+ " calls it later in another thread. Remove that advice, or order it outside of the lock", method.id(),
				JobRun.of(handle)
					.map((run) -> " for its planned time " + run.plannedAt() + ", which is recorded as failed")
					.orElse(""),
				method.place());
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
		answered(null, refusal, null);
		JobRefusal verdict = JobRefusal.of(refusal);
		return (verdict != null && verdict.isFinal()) || this.request.isRepeated()
				|| (this.requester != null && this.request.schedule() == null);
	}

	/**
	 * Report that the method is called without its lock, whose condition is false.
	 */
	public void unlocked() {
		report(Outcome.STARTED, "It has started without its lock, because the lock's condition is false");
		this.task.unlocked(this.request);
	}

	/**
	 * Report that the request for the lock failed.
	 * @param failure why
	 * @return whether the planned time remains open, so that there is nothing else to do
	 */
	public boolean failed(RuntimeException failure) {
		report(Outcome.FAILED, "The request for its lock failed: " + failure.getMessage());
		Answer before = this.answer.get();
		if (this.request.schedule() == null || (before != null && before.run() != null)) {
			return false;
		}
		answered(null, null, failure);
		return true;
	}

	private void report(Outcome outcome, String description) {
		if (this.requester != null) {
			this.requester.accept(new ManualRun(outcome, description));
		}
	}

	private void answered(@Nullable JobRun run, @Nullable LockRefusal refusal, @Nullable RuntimeException failure) {
		Answer answer = new Answer(this.request.named(this.names), this.asked.get(), run, refusal, failure);
		Answer before = this.answer.getAndSet(answer);
		noteInstance(answer);
		this.task.answered(answer, before == null);
		if (run != null && (before == null || before.run() == null)) {
			this.task.granted(answer);
		}
		this.unfollowed.set(true);
		if (this.returned) {
			follow();
		}
	}

	private void noteInstance(Answer answer) {
		JobMethod method = this.method.get();
		JobRun run = (answer.run() != null) ? answer.run() : answer.lastRun();
		if (method != null && run != null) {
			method.lastRunBy(run, answer.run() != null);
		}
	}

	/**
	 * Have the task act on the latest answer once, in the thread in which the method
	 * returned, or in that of a later answer.
	 */
	private void follow() {
		if (this.requester == null && this.unfollowed.getAndSet(false)) {
			this.task.follow(Objects.requireNonNull(this.answer.get()));
		}
	}

}
