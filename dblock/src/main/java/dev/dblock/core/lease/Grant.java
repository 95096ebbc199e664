package dev.dblock.core.lease;

import java.time.Instant;

import dev.dblock.job.JobRun;
import dev.dblock.store.LeaseKey;
import org.jspecify.annotations.Nullable;

/**
 * A lock as the store granted it.
 *
 * @param key the acquisition
 * @param token the fencing token of its present owner
 * @param lastToken the last token of the reserved block
 * @param acquiredAt when the store granted it, by its own clock
 * @param why the reason for the acquisition
 * @param fenceRaised whether the fence was raised against an earlier holder
 * @param run the run of a job that it is for
 */
public record Grant(LeaseKey key, long token, long lastToken, Instant acquiredAt, String why, boolean fenceRaised,
		@Nullable JobRun run) {

	boolean hasNext() {
		return this.token < this.lastToken;
	}

	Grant next(@Nullable String why) {
		return new Grant(this.key, this.token + 1, this.lastToken, this.acquiredAt,
				(why != null) ? LeaseOwner.onOneLine(why) : "handed over inside the process", this.fenceRaised, null);
	}

}
