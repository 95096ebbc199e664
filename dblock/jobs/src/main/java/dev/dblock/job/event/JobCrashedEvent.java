package dev.dblock.job.event;

import dev.dblock.event.LockEvent;
import dev.dblock.job.JobRun;

/**
 * Event for a run of a job that crashed: its lease expired before its end was recorded.
 * Published by the instance that is granted the job next, in a thread of its own.
 *
 * @param name the full name of the lock, including the prefix
 * @param run the run that crashed
 */
public record JobCrashedEvent(String name, JobRun run) implements LockEvent {

}
