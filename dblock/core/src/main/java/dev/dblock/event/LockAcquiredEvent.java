package dev.dblock.event;

/**
 * Event for a lock that was acquired. Published in the thread that acquired it, before
 * its work starts.
 *
 * @param name the full name of the lock, including the prefix
 * @param token the fencing token
 */
public record LockAcquiredEvent(String name, long token) implements LockEvent {

}
