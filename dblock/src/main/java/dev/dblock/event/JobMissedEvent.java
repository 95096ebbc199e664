package dev.dblock.event;

import java.time.Instant;

/**
 * A planned time of a job was not run by any instance that this one knows of, and is no
 * longer tried. Published in a thread of its own.
 *
 * @param name the full name of the lock, prefix included
 * @param jobId the id of the job
 * @param plannedAt the planned time, by the clock of the server
 */
public record JobMissedEvent(String name, String jobId, Instant plannedAt) implements LockEvent {

}
