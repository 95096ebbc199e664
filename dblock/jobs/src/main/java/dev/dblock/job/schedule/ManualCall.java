package dev.dblock.job.schedule;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.job.JobOperations.ManualRun.Outcome;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * A call that an operator requested. It is for no planned time.
 */
final class ManualCall {

	private final JobTask task;

	private final CompletableFuture<@Nullable ManualRun> result = new CompletableFuture<>();

	private final AtomicBoolean begun = new AtomicBoolean();

	private ManualCall(JobTask task) {
		this.task = task;
	}

	/**
	 * Call the method in a thread of the scheduler.
	 * @param patience how long to wait for the answer
	 */
	static ManualRun run(JobTask task, Duration patience) {
		return new ManualCall(task).run(patience);
	}

	private ManualRun run(Duration patience) {
		Future<?> firing;
		try {
			firing = this.task.submit(this::call);
		}
		catch (TaskRejectedException ex) {
			return new ManualRun(Outcome.REFUSED,
					"Its scheduler accepts no more tasks, because the application is closing");
		}
		ManualRun answer = this.result.completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS).join();
		if (answer != null) {
			return answer;
		}
		if (!this.begun.compareAndSet(false, true)) {
			return new ManualRun(Outcome.WAITING, "It is waiting for its lock, and runs if it acquires it");
		}
		firing.cancel(false);
		return new ManualRun(Outcome.REFUSED,
				"No thread of its scheduler was free within " + Durations.readable(patience));
	}

	private void call() {
		if (!this.begun.compareAndSet(false, true)) {
			return;
		}
		try {
			new BoundCall(this.task, JobRequest.first(null), this.result::complete).run(this.task.task());
		}
		catch (Throwable ex) {
			this.result.complete(new ManualRun(Outcome.FAILED, "The request for its lock failed: " + ex));
			throw ex;
		}
	}

}
