package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.job.JobRun;
import dev.dblock.job.event.JobListener;

/**
 * Records its notifications.
 */
final class RecordingListener implements JobListener {

	private final List<String> news = new CopyOnWriteArrayList<>();

	@Override
	public void onAcquired(LockHandle handle) {
		add(handle.name(), "acquired " + handle.name());
	}

	@Override
	public void onUnavailable(LockRefusal refusal) {
		add(refusal.name(), "unavailable " + refusal.name());
	}

	@Override
	public void onRenewedLate(LockHandle handle, Duration left) {
		add(handle.name(), "renewed " + handle.name() + " late, " + left.toSeconds() + " s before its end");
	}

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		add(handle.name(), "lost " + handle.name() + " " + reason);
	}

	@Override
	public void onReleased(LockHandle handle) {
		add(handle.name(), "released " + handle.name());
	}

	@Override
	public void onRunEnded(String name, JobRun run) {
		add(name, "ended " + run.jobId() + " " + run.outcome());
	}

	@Override
	public void onRunCrashed(String name, JobRun run) {
		add(name, "crashed " + run.jobId() + " at " + run.plannedAt());
	}

	@Override
	public void onMissed(String name, String jobId, Instant plannedAt) {
		add(name, "missed " + jobId + " at " + plannedAt);
	}

	private void add(String name, String what) {
		if (!name.startsWith(InMemoryLockRepository.UNSEEN)) {
			this.news.add(what);
		}
	}

	List<String> news() {
		return this.news;
	}

}
