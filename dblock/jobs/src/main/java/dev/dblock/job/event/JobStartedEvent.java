package dev.dblock.job.event;

import dev.dblock.event.LockEvent;
import dev.dblock.job.JobRun;

/**
 * Event for a run of a job that has begun. Published in the thread that acquired its
 * lock, before the work starts.
 *
 * @param name the full name of the lock, including the prefix
 * @param run the run
 */
public record JobStartedEvent(String name, JobRun run) implements LockEvent {

}
