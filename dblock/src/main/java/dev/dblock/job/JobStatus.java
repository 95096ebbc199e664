package dev.dblock.job;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The run record of a job. All instants are by the clock of the server.
 *
 * @param jobId the id of the job
 * @param runs the last twenty runs at most, the latest first
 * @param paused whether an operator paused the job
 * @param pausedBy the operator that paused it, if known
 * @param pausedAt when it was paused, if known
 * @param resumedAt when it was last resumed; {@code null} if it never was
 * @param heldBy the instance that holds the lock of the job, for a run or for another
 * purpose; {@code null} if none does
 * @param at the time of the server's clock when the record was read
 */
public record JobStatus(String jobId, List<JobRun> runs, boolean paused, @Nullable String pausedBy,
		@Nullable Instant pausedAt, @Nullable Instant resumedAt, @Nullable String heldBy, Instant at) {
}
