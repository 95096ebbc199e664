package dev.dblock.job.event;

import java.time.Instant;

import dev.dblock.LockHandle;
import dev.dblock.event.LockEventPublisher;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobShards;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * Publishes the events of locks and jobs as application events.
 */
final class JobEventPublisher extends LockEventPublisher implements JobListener {

	JobEventPublisher(ConfigurableApplicationContext context) {
		super(context);
	}

	@Override
	public void onAcquired(LockHandle handle) {
		super.onAcquired(handle);
		JobRun.of(handle).ifPresent((run) -> publish(new JobStartedEvent(handle.name(), run)));
	}

	@Override
	public void onRunEnded(String name, JobRun run) {
		publish(new JobEndedEvent(name, run));
	}

	@Override
	public void onRunCrashed(String name, JobRun run) {
		publish(new JobCrashedEvent(name, run));
	}

	@Override
	public void onMissed(String name, String jobId, Instant plannedAt) {
		publish(new JobMissedEvent(name, jobId, plannedAt));
	}

	@Override
	public void onShardsOver(String name, String jobId, JobShards shards) {
		publish(new JobShardsOverEvent(name, jobId, shards));
	}

}
