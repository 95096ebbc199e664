package dev.dblock.job;

import java.time.Instant;

import dev.dblock.claim.Claim;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * News about the runs of jobs.
 */
public sealed interface JobNews extends Claim.News {

	/**
	 * A run of a job has ended, or has lost its lock.
	 *
	 * @param run the run, with its outcome
	 */
	record Ended(JobRun run) implements JobNews {

		@Override
		public String what() {
			return "released by a job";
		}

		@Override
		public boolean isInOwnThread() {
			return this.run.outcome() == JobRun.Outcome.LOST;
		}

	}

	/**
	 * A run of a job crashed.
	 *
	 * @param run the run
	 * @param next the run that was granted after it, if that is known
	 */
	record Crashed(JobRun run, @Nullable JobRun next) implements JobNews {

		@Override
		public String what() {
			return "acquired after a crash";
		}

		@Override
		public boolean isInOwnThread() {
			return true;
		}

		@Override
		public void log(Logger logger) {
			String then = (this.next != null && this.next.plannedAt().equals(this.run.plannedAt()))
					? "This instance repeats the crashed run of %s, attempt %d".formatted(this.run.instance(),
							this.next.attempt())
					: "It is not repeated";
			logger.warn(
					"The run of the job '{}' planned for {} crashed: {} started it at {}, and its lease expired"
							+ " before its end was recorded. {}",
					this.run.jobId(), this.run.plannedAt(), this.run.instance(), this.run.startedAt(), then);
		}

	}

	/**
	 * No shard of a planned time is being run or is still to be run.
	 *
	 * @param jobId the id of the job
	 * @param shards what became of them
	 */
	record ShardsOver(String jobId, JobShards shards) implements JobNews {

		@Override
		public String what() {
			return "of a planned time whose shards are over";
		}

		@Override
		public boolean isInOwnThread() {
			return false;
		}

	}

	/**
	 * A planned time of a job was not run, and no instance runs it any more.
	 *
	 * @param jobId the id of the job
	 * @param plannedAt the planned time
	 */
	record Missed(String jobId, Instant plannedAt) implements JobNews {

		@Override
		public String what() {
			return "not acquired for a planned time";
		}

		@Override
		public boolean isInOwnThread() {
			return true;
		}

	}

}
