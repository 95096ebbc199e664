package dev.dblock.job.schedule;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import org.jspecify.annotations.Nullable;

/**
 * A call that the scheduler makes. It is bound to the scheduler's thread until the first
 * call of the job's method takes it; whatever else that thread calls is no firing.
 */
public final class ScheduledCall {

	private static final ThreadLocal<@Nullable ScheduledCall> BOUND = new ThreadLocal<>();

	private final JobTask task;

	private final @Nullable Schedule schedule;

	private final AtomicBoolean taken = new AtomicBoolean();

	private @Nullable JobFiring firing;

	private long sent;

	private boolean answered;

	private boolean returned;

	private @Nullable JobRun run;

	private @Nullable LockRefusal refusal;

	ScheduledCall(JobTask task, @Nullable Schedule schedule) {
		this.task = task;
		this.schedule = schedule;
	}

	/**
	 * Take the call that the scheduler makes in this thread, if it is one of this method.
	 * @param method the method
	 * @return the call; {@code null} if other code calls the method
	 */
	public static @Nullable ScheduledCall take(JobMethod method) {
		ScheduledCall call = BOUND.get();
		return (call != null && call.isOf(method) && call.taken.compareAndSet(false, true)) ? call : null;
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
	 * The firing that this call is about to ask for.
	 * @param jobId the id of the job; {@code null} for the full name of its lock
	 * @param rerun whether a crashed run is repeated
	 * @return the same firing for each retry; {@code null} for a one-time task, which has
	 * no planned time
	 */
	public synchronized @Nullable JobFiring firing(@Nullable String jobId, boolean rerun) {
		if (this.firing == null && this.schedule != null) {
			this.firing = JobFiring.of(jobId, this.schedule, rerun);
			this.sent = this.task.nanoTime();
		}
		return this.firing;
	}

	/**
	 * Report that the lock was granted.
	 * @param run the run that it was granted for; {@code null} if the engine knows none
	 */
	public void granted(@Nullable JobRun run) {
		answered(run, null, (run != null) ? run.startedAt() : null);
	}

	/**
	 * Report that the lock was refused.
	 * @param refusal the refusal
	 * @return whether there is nothing to do for this firing, since another one has the
	 * planned time, it is not due, or the job is paused
	 */
	public boolean refused(LockRefusal refusal) {
		answered(null, refusal, (refusal.job() != null) ? refusal.job().at() : null);
		return refusal.job() != null && switch (refusal.job().reason()) {
			case DONE, NOT_DUE, PAUSED, RUNNING -> true;
			case OVERLAPPED -> false;
		};
	}

	// The answer to a retry repeats when the run was started
	private void answered(@Nullable JobRun run, @Nullable LockRefusal refusal, @Nullable Instant serverTime) {
		boolean follow;
		synchronized (this) {
			if (serverTime != null && !this.answered) {
				this.task.learn(serverTime, this.sent);
			}
			this.answered = true;
			this.run = run;
			this.refusal = refusal;
			follow = this.returned;
		}
		if (follow) {
			this.task.follow(this);
		}
	}

	/**
	 * Call the method in this thread. An answer that comes later, to an asynchronous job,
	 * is followed at once.
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
	 * Whether there is an answer. If there is none yet, the task follows it when it
	 * comes.
	 */
	synchronized boolean isAnswered() {
		this.returned = true;
		return this.answered;
	}

	@Nullable Schedule schedule() {
		return this.schedule;
	}

	synchronized @Nullable JobRun run() {
		return this.run;
	}

	synchronized @Nullable LockRefusal refusal() {
		return this.refusal;
	}

	synchronized boolean isRerun() {
		return this.firing != null && this.firing.rerun();
	}

}
