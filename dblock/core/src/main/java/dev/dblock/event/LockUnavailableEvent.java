package dev.dblock.event;

import dev.dblock.LockRefusal;

/**
 * Event for a lock that was requested and is held by another holder. Published in the
 * thread that requested it.
 *
 * @param refusal the refusal, with the holder of the lock and the time of the wait
 */
public record LockUnavailableEvent(LockRefusal refusal) implements LockEvent {

	@Override
	public String name() {
		return this.refusal.name();
	}

}
