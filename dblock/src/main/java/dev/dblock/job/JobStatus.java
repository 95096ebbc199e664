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
 * @param pausedBy who paused it, if that is known
 * @param pausedAt when it was paused, if that is known
 * @param resumedAt when it was resumed last; {@code null} if it never was
 * @param heldBy the instance that holds the lock of the job, for a run or for anything
 * else; {@code null} if none does
 * @param at what the server's clock showed when the record was read
 */
public record JobStatus(String jobId, List<JobRun> runs, boolean paused, @Nullable String pausedBy,
		@Nullable Instant pausedAt, @Nullable Instant resumedAt, @Nullable String heldBy, Instant at) {
}
