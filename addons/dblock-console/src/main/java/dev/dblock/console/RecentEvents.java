package dev.dblock.console;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import dev.dblock.LockHandle;
import dev.dblock.LossReason;
import dev.dblock.job.JobRun;
import dev.dblock.job.event.JobListener;

/**
 * Keeps the last losses, late renewals, crashes and missed times that this instance
 * reported.
 */
final class RecentEvents implements JobListener {

	private static final int MOST = 50;

	private final Deque<ConsoleState.Event> events = new ArrayDeque<>();

	private long count;

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		add(handle.name(), "was lost with token %d: %s".formatted(handle.token(), reason.description()));
	}

	@Override
	public void onRenewedLate(LockHandle handle, Duration left) {
		add(handle.name(), "was renewed late, with %d ms left".formatted(left.toMillis()));
	}

	@Override
	public void onRunCrashed(String name, JobRun run) {
		add(run.jobId(), "crashed on %s: its run for %s has no end".formatted(run.instance(), run.plannedAt()));
	}

	@Override
	public void onMissed(String name, String jobId, Instant plannedAt) {
		add(jobId, "missed its planned time %s".formatted(plannedAt));
	}

	private synchronized void add(String subject, String text) {
		this.events.addFirst(new ConsoleState.Event(++this.count, Instant.now(), subject, text));
		if (this.events.size() > MOST) {
			this.events.removeLast();
		}
	}

	synchronized List<ConsoleState.Event> list() {
		return List.copyOf(this.events);
	}

}
