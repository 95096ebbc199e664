package dev.dblock.event;

import dev.dblock.job.JobRun;

/**
 * A run of a job has ended, or has lost its lock. Published in the thread that released
 * the lock, and at a loss in a thread of its own.
 *
 * @param name the full name of the lock, prefix included
 * @param run the run with its outcome, as this instance knows it; what the server has
 * recorded can differ after a loss or an unreachable server
 */
public record JobEndedEvent(String name, JobRun run) implements LockEvent {

}
