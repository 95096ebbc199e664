package dev.dblock.event;

import dev.dblock.job.JobRun;

/**
 * A run of a job has begun. Published in the thread that acquired its lock, before the
 * work starts.
 *
 * @param name the full name of the lock, prefix included
 * @param run the run
 */
public record JobStartedEvent(String name, JobRun run) implements LockEvent {

}
