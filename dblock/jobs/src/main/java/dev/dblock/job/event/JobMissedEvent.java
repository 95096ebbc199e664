package dev.dblock.job.event;

import java.time.Instant;

import dev.dblock.event.LockEvent;

/**
 * Event for a planned time of a job that was not run by any instance, as far as this one
 * knows, and that is no longer tried. Published in a thread of its own.
 *
 * @param name the full name of the lock, including the prefix
 * @param jobId the id of the job
 * @param plannedAt the planned time, by the clock of the server
 */
public record JobMissedEvent(String name, String jobId, Instant plannedAt) implements LockEvent {

}
