package dev.dblock.sample;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.event.LockListener;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/**
 * Logs which locks this instance acquires, and which it has to do without.
 */
@Component
class LockLog implements LockListener {

	private static final Logger logger = LoggerFactory.getLogger(LockLog.class);

	@Override
	public void onAcquired(LockHandle handle) {
		logger.info("HOLDS     {} (token {})", handle.name(), handle.token());
	}

	@Override
	public void onUnavailable(LockRefusal refusal) {
		logger.info("SKIPS     {}: {}", refusal.name(), reason(refusal));
	}

	private static String reason(LockRefusal refusal) {
		JobRefusal job = JobRefusal.of(refusal);
		if (job != null && job.reason() == Reason.DONE && job.last() != null) {
			return job.last().instance() + " has done the run of " + job.last().plannedAt();
		}
		LockInfo lock = refusal.holder();
		if (lock == null || !lock.held()) {
			return "the lock was not available";
		}
		return lock.acquirer() + " holds it since " + lock.acquiredAt() + ", for another " + lock.remaining().toMillis()
				+ " ms if it crashes now";
	}

	@Override
	public void onReleased(LockHandle handle) {
		logger.info("RELEASES  {}", handle.name());
	}

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		logger.info("LOSES     {}: {}", handle.name(), reason.description());
	}

}
