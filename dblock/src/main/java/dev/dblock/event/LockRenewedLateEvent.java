package dev.dblock.event;

import java.time.Duration;

/**
 * A lease was renewed when less than a third of it was left: earlier attempts had failed,
 * or the process was paused. Published in a thread of dblock's own.
 *
 * @param name the full name of the lock, prefix included
 * @param token the fencing token
 * @param left what was left of the lease
 */
public record LockRenewedLateEvent(String name, long token, Duration left) implements LockEvent {

}
