package dev.dblock.event;

import dev.dblock.LockRefusal;

/**
 * A lock was asked for and is held by somebody else. Published in the thread that asked.
 *
 * @param refusal who holds the lock, and how long was waited for it
 */
public record LockUnavailableEvent(LockRefusal refusal) implements LockEvent {

	@Override
	public String name() {
		return this.refusal.name();
	}

}
