package dev.dblock.test.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import dev.dblock.LockedTask;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobStatus;
import dev.dblock.job.schedule.ScheduledJobs;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.store.AcquireAnswer;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.RunEnd;
import org.jspecify.annotations.Nullable;

/**
 * Scheduled job of the application under test. A test calls it as a scheduler does, and
 * plays the other instances:
 *
 * <pre class="code">
 * TestJob job = locks.job("nightly-invoices");
 * job.runElsewhere(plannedAt);
 * job.fire(plannedAt, invoices::write);                   // skipped
 * job.fire(plannedAt.plus(Duration.ofDays(1)), invoices::write);
 * assertThat(job.runs()).hasSize(2);
 * </pre>
 *
 * Planned times may lie in the past, but each must be later than the one before. All run
 * records are discarded after each test method.
 */
public final class TestJob {

	private final LockEngine engine;

	private final LocalLockRepository elsewhere;

	private final @Nullable ScheduledJobs scheduled;

	private final AcquireRequest request;

	private final String jobId;

	TestJob(LockEngine engine, LocalLockRepository elsewhere, @Nullable ScheduledJobs scheduled, AcquireRequest request,
			@Nullable String jobId) {
		this.engine = engine;
		this.elsewhere = elsewhere;
		this.scheduled = scheduled;
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
		if (this.elsewhere.acquire(this.request.withFiring(firing)) instanceof AcquireAnswer.Refused refused) {
			throw new IllegalStateException("Another instance cannot run the job '%s' for %s: %s".formatted(this.jobId,
					plannedAt, (refused.job() != null) ? refused.job().reason() : "its lock is held"));
		}
		this.elsewhere.release(this.request.key(), Duration.ZERO, FenceMark.KEEP,
				new RunEnd(this.jobId, JobRun.Outcome.SUCCEEDED, null), this.request.timeout());
	}

	/**
	 * Call the job as a scheduler does for a planned time. The call is skipped if the
	 * planned time was run, is more than 250 ms in the future, or the job is paused.
	 * @param plannedAt the planned time
	 * @param call the call of the job's method, through its proxy
	 * @throws IllegalStateException if the application has no scheduled jobs, because
	 * scheduling is off or {@code dblock.jobs.once-per-planned-time} is {@code false}
	 */
	public void fire(Instant plannedAt, LockedTask call) {
		if (this.scheduled == null) {
			throw new IllegalStateException(("The job '%s' cannot be called for a planned time, because this test has"
					+ " no scheduled jobs. Leave dblock.jobs.once-per-planned-time on")
				.formatted(this.jobId));
		}
		Thrown thrown = new Thrown();
		this.scheduled.fire(plannedAt, () -> thrown.run(call));
		thrown.<RuntimeException>rethrow();
	}

	/**
	 * Pause the job, as an operator does.
	 */
	public void pause() {
		this.engine.jobs().pause(this.request.key().name(), this.jobId, "a test");
	}

	/**
	 * Resume the job.
	 * @return whether it was paused
	 */
	public boolean resume() {
		return this.engine.jobs().resume(this.request.key().name(), this.jobId);
	}

	/**
	 * Return the last runs on all instances, at most twenty.
	 * @return the runs, the latest first
	 */
	public List<JobRun> runs() {
		return this.engine.jobs()
			.find(this.request.key().name(), this.jobId, null)
			.map(JobStatus::runs)
			.orElse(List.of());
	}

	/**
	 * Carries the exception of a call through a {@link Runnable}, which cannot throw it.
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
