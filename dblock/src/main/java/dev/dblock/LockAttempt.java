package dev.dblock;

/**
 * What came of asking for a lock: a {@link LockGrant} or a {@link LockRefusal}.
 */
public sealed interface LockAttempt permits LockGrant, LockRefusal {

}
