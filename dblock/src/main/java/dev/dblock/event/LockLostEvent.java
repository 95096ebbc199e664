package dev.dblock.event;

import dev.dblock.LossReason;

/**
 * A lease was lost while its owner still counted on it: another process may be at the
 * same work. Published in a thread of dblock's own.
 *
 * @param name the full name of the lock, prefix included
 * @param token the fencing token
 * @param reason why it was lost
 */
public record LockLostEvent(String name, long token, LossReason reason) implements LockEvent {

}
