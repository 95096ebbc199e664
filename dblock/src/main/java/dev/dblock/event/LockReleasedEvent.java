package dev.dblock.event;

/**
 * A lock was given back by its owner. Published in the thread that released it.
 *
 * @param name the full name of the lock, prefix included
 * @param token the fencing token
 */
public record LockReleasedEvent(String name, long token) implements LockEvent {

}
