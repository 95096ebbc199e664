package dev.dblock.job;

import java.time.Duration;

import dev.dblock.claim.Claim;
import dev.dblock.claim.Claimed;
import dev.dblock.job.StoredJob.RunEnd;
import org.jspecify.annotations.Nullable;

/**
 * What the store recorded with the grant of a firing.
 *
 * @param run the run that it was granted for; {@code null} if the record does not show it
 * @param crashed the run of the job before it, if that crashed and no instance is known
 * to have reported it
 */
public record GrantedRun(@Nullable JobRun run, @Nullable JobRun crashed) implements Claimed {

	@Override
	public @Nullable JobRun value() {
		return this.run;
	}

	@Override
	public Claim.@Nullable News earlier() {
		return (this.crashed != null) ? new JobNews.Crashed(this.crashed, this.run) : null;
	}

	/**
	 * Return the end of the run. The server's time of the grant is continued by the clock
	 * of this process.
	 */
	@Override
	public Claim.@Nullable News ended(Claim.End end, Duration held) {
		if (this.run == null) {
			return null;
		}
		RunEnd ended = (RunEnd) end;
		return new JobNews.Ended(new JobRun(this.run.jobId(), this.run.plannedAt(), this.run.attempt(),
				this.run.startedAt(), this.run.startedAt().plus(held), ended.outcome(), this.run.instance(),
				this.run.token(), ended.error(), this.run.after(), this.run.plan(), this.run.shards()));
	}

}
