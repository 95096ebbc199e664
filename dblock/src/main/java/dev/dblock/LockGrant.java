package dev.dblock;

/**
 * A lock that was requested and is now held.
 *
 * @param handle the handle of the lock
 */
public record LockGrant(LockHandle handle) implements LockAttempt {

}
