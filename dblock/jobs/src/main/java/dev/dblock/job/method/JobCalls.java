package dev.dblock.job.method;

import java.util.function.Supplier;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.annotation.invocation.CallObserver;
import dev.dblock.annotation.invocation.CallSource;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.BoundCall;
import dev.dblock.job.schedule.JobMethod;
import dev.dblock.job.schedule.ScheduledJobs;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler's calls of one job. Each of them requests the lock for its firing, and
 * receives the answer.
 */
final class JobCalls implements CallSource {

	private final ScheduledJobs jobs;

	private final JobMethod job;

	JobCalls(ScheduledJobs jobs, JobMethod job) {
		this.jobs = jobs;
		this.job = job;
	}

	@Override
	public boolean isActive() {
		return this.job.isCaptured();
	}

	@Override
	public @Nullable CallObserver take() {
		BoundCall call = BoundCall.take(this.job);
		return (call != null) ? new Call(this.jobs, this.job, call) : null;
	}

	@Override
	public boolean isOf(CallObserver call) {
		return call instanceof Call scheduled && scheduled.bound.isOf(this.job);
	}

	/**
	 * A call by the scheduler.
	 *
	 * @param jobs the jobs of the context
	 * @param job the job
	 * @param bound the call as the scheduler made it
	 */
	private record Call(ScheduledJobs jobs, JobMethod job, BoundCall bound) implements CallObserver {

		@Override
		public String name(Object lock, Supplier<String> name) {
			return this.bound.name(lock, name);
		}

		@Override
		public LockOptions options(LockOptions declared, @Nullable String fullName) {
			if (!this.job.isCaptured()) {
				return declared;
			}
			if (fullName != null) {
				this.jobs.lockedBy(this.job, fullName);
			}
			JobFiring firing = this.bound.firing(this.bound.declaration());
			LockOptions options = (this.job.declaration().shards() > 0) ? ofShard(declared) : declared;
			return (firing != null) ? options.claim(firing) : options;
		}

		/** The settings for the lock of a job apply to those of its shards. */
		private LockOptions ofShard(LockOptions declared) {
			JobMethod.Declaration declaration = this.job.declaration();
			return declaration.engine()
				.setting(declaration.template())
				.map((setting) -> setting.options().orElse(declared))
				.orElse(declared);
		}

		@Override
		public void granted(@Nullable LockHandle handle) {
			this.bound.granted((handle != null) ? JobRun.of(handle).orElse(null) : null);
		}

		@Override
		public void ended(LockHandle handle) {
			this.bound.ended(handle);
		}

		@Override
		public boolean refused(LockRefusal refusal) {
			return this.bound.refused(refusal);
		}

		@Override
		public void unlocked() {
			this.bound.unlocked();
		}

		@Override
		public boolean failed(RuntimeException failure) {
			return this.bound.failed(failure);
		}

	}

}
