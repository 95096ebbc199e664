package dev.dblock;

/**
 * The result of a request for a lock: a {@link LockGrant} or a {@link LockRefusal}.
 */
public sealed interface LockAttempt permits LockGrant, LockRefusal {

}
