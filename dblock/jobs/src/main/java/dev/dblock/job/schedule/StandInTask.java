package dev.dblock.job.schedule;

import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.SchedulingAwareRunnable;

/**
 * A task that appears to the scheduler as the task that it represents.
 *
 * @param task the task
 * @param action the action that runs instead
 */
record StandInTask(Runnable task, Runnable action) implements SchedulingAwareRunnable {

	@Override
	public void run() {
		this.action.run();
	}

	@Override
	public boolean isLongLived() {
		return this.task instanceof SchedulingAwareRunnable aware && aware.isLongLived();
	}

	@Override
	public @Nullable String getQualifier() {
		return (this.task instanceof SchedulingAwareRunnable aware) ? aware.getQualifier() : null;
	}

	@Override
	public String toString() {
		return this.task.toString();
	}

}
