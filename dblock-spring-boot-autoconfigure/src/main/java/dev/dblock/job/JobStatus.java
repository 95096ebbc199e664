package dev.dblock.job;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The run record of a job.
 *
 * @param jobId the id of the job
 * @param runs the last twenty runs at most, the latest first
 * @param paused whether an operator paused the job
 * @param pausedBy who paused it, if that is known
 * @param resumedAt when it was resumed last, by the clock of the server; {@code null} if
 * it never was
 */
public record JobStatus(String jobId, List<JobRun> runs, boolean paused, @Nullable String pausedBy,
		@Nullable Instant resumedAt) {
}
