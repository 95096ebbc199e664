package dev.dblock.autoconfigure;

import java.time.Duration;

import dev.dblock.LockAcquiredEvent;
import dev.dblock.LockEvent;
import dev.dblock.LockHandle;
import dev.dblock.LockListener;
import dev.dblock.LockLostEvent;
import dev.dblock.LockRefusal;
import dev.dblock.LockReleasedEvent;
import dev.dblock.LockRenewedLateEvent;
import dev.dblock.LockUnavailableEvent;
import dev.dblock.LossReason;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Makes application events of what happens to locks.
 */
final class LockEventPublisher implements LockListener {

	private final ApplicationEventPublisher publisher;

	LockEventPublisher(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void onAcquired(LockHandle handle) {
		publish(new LockAcquiredEvent(handle.name(), handle.token()));
	}

	@Override
	public void onUnavailable(LockRefusal refusal) {
		publish(new LockUnavailableEvent(refusal));
	}

	@Override
	public void onRenewedLate(LockHandle handle, Duration left) {
		publish(new LockRenewedLateEvent(handle.name(), handle.token(), left));
	}

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		publish(new LockLostEvent(handle.name(), handle.token(), reason));
	}

	@Override
	public void onReleased(LockHandle handle) {
		publish(new LockReleasedEvent(handle.name(), handle.token()));
	}

	private void publish(LockEvent event) {
		this.publisher.publishEvent(event);
	}

}
