package dev.dblock.job;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The run record of a job.
 *
 * @param jobId the id of the job
 * @param runs the last twenty runs at most, the latest first
 * @param paused whether an operator paused the job
 * @param pausedBy who paused it, if that is known
 */
public record JobStatus(String jobId, List<JobRun> runs, boolean paused, @Nullable String pausedBy) {
}
