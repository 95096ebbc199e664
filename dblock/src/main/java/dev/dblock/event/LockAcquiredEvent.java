package dev.dblock.event;

/**
 * A lock was acquired. Published in the thread that acquired it, before its work starts.
 *
 * @param name the full name of the lock, prefix included
 * @param token the fencing token
 */
public record LockAcquiredEvent(String name, long token) implements LockEvent {

}
