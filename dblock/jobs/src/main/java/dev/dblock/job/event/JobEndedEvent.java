package dev.dblock.job.event;

import dev.dblock.event.LockEvent;
import dev.dblock.job.JobRun;

/**
 * Event for a run of a job that has ended, or has lost its lock. Published in the thread
 * that released the lock, and at a loss in a thread of its own.
 *
 * @param name the full name of the lock, including the prefix
 * @param run the run with its outcome, as this instance knows it; the record on the
 * server can differ after a loss or if the server is unreachable
 */
public record JobEndedEvent(String name, JobRun run) implements LockEvent {

}
