package dev.dblock.sample;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockListener;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/**
 * Writes who holds what, and who goes without.
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
		LockInfo lock = refusal.holder();
		if (lock == null) {
			logger.info("SKIPS     {}", refusal.name());
		}
		else if (lock.held()) {
			logger.info("SKIPS     {}: {} holds it since {}, for another {} ms if it is never heard of again",
					refusal.name(), lock.acquirer(), lock.acquiredAt(), lock.remaining().toMillis());
		}
		else {
			logger.info("SKIPS     {}: {} has done it just now", refusal.name(), lock.acquirer());
		}
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
