package dev.dblock.event;

import dev.dblock.LossReason;

/**
 * Event for a lease that was lost while its holder still relied on it: another process
 * may be doing the same work. Published in a dblock thread.
 *
 * @param name the full name of the lock, including the prefix
 * @param token the fencing token
 * @param reason why it was lost
 */
public record LockLostEvent(String name, long token, LossReason reason) implements LockEvent {

}
