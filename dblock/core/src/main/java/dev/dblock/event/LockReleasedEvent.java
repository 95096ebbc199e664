package dev.dblock.event;

/**
 * Event for a lock that was released by its holder. Published in the thread that released
 * it.
 *
 * @param name the full name of the lock, including the prefix
 * @param token the fencing token
 */
public record LockReleasedEvent(String name, long token) implements LockEvent {

}
