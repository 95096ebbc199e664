package dev.dblock.job.schedule;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * The future of a schedule that does not fire: in tests, or since its trigger plans
 * nothing. It refers to the task, to which {@link ScheduledJobs} has only a weak
 * reference.
 */
final class NoFiring extends CompletableFuture<Object> implements ScheduledFuture<Object> {

	@SuppressWarnings("unused")
	private final JobTask task;

	NoFiring(JobTask task) {
		this.task = task;
	}

	@Override
	public long getDelay(TimeUnit unit) {
		return 0;
	}

	@Override
	public int compareTo(Delayed other) {
		return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
	}

}
