package dev.dblock.event;

import java.time.Duration;

/**
 * Event for a lease that was renewed when less than a third of it was left: earlier
 * attempts had failed, or the process was paused. Published in a dblock thread.
 *
 * @param name the full name of the lock, including the prefix
 * @param token the fencing token
 * @param left the rest of the lease at that time
 */
public record LockRenewedLateEvent(String name, long token, Duration left) implements LockEvent {

}
