package dev.dblock.job.event;

import dev.dblock.event.LockEvent;
import dev.dblock.job.JobShards;

/**
 * Event for a planned time of a job of which no shard is being run or is still to be run.
 * Published on the instance that ran the last shard. If that one crashed and is not
 * repeated, the event is not published.
 *
 * @param name the full name of the lock of the job, including the prefix
 * @param jobId the id of the job
 * @param shards what became of the shards
 */
public record JobShardsOverEvent(String name, String jobId, JobShards shards) implements LockEvent {

}
