package dev.dblock;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The state of one lock as the server has it. All instants are the server's clock, never
 * that of a client.
 *
 * @param name the full name of the lock, prefix included
 * @param held whether somebody holds an unexpired lease
 * @param holder the random id of the acquisition that has, or last had, the lock without
 * releasing it; {@code null} once released
 * @param acquirer the instance that acquired the lock last
 * @param thread the thread that acquired the lock last, as far as the server was told:
 * while a lock is handed on inside a process, without a request, the others are told of
 * the thread that the server granted it to, until the process has given it back. The
 * process itself is told of the thread that has it
 * @param why what the lock was acquired for, by that thread
 * @param token the last fencing token reserved under this name; the holder's own token is
 * not higher
 * @param acquiredAt when the lock was granted last
 * @param updatedAt when the lease was granted or renewed last
 * @param expiresAt when the name is free for others: the end of the lease with the clock
 * allowance, or after a release the end of a minimum hold
 * @param releasedAt when the lock was released; {@code null} while it is held
 * @param remaining how long the name stays taken by the server's clock; zero when it is
 * free
 */
public record LockInfo(String name, boolean held, @Nullable String holder, @Nullable String acquirer,
		@Nullable String thread, @Nullable String why, long token, @Nullable Instant acquiredAt,
		@Nullable Instant updatedAt, @Nullable Instant expiresAt, @Nullable Instant releasedAt, Duration remaining) {
}
