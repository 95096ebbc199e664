package dev.dblock;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The state of one lock as stored on the server. All instants are by the server's clock,
 * never by that of a client.
 *
 * @param name the full name of the lock, including the prefix
 * @param held whether the lock has a holder whose lease has not expired
 * @param holder the random id of the acquisition that holds the lock, or that held it
 * last without releasing it; {@code null} once released
 * @param acquirer the instance that acquired the lock last
 * @param thread the thread that acquired the lock last, as far as the server knows it.
 * While a lock is handed over inside a process, without a request, other processes see
 * the thread to which the server granted the lock, until the process has released it. The
 * process itself sees the thread that holds the lock
 * @param why the purpose for which that thread acquired the lock
 * @param token the last fencing token that was reserved under this name; the holder's own
 * token is not higher
 * @param acquiredAt when the lock was last granted
 * @param updatedAt when the lease was last granted or renewed
 * @param expiresAt when the lock becomes available to others: the end of the lease
 * including the clock allowance, or after a release the end of a minimum hold
 * @param releasedAt when the lock was released; {@code null} while it is held
 * @param remaining how long the lock remains unavailable, by the server's clock; zero if
 * it is free
 * @param permits of how many permits this is one, as requested by the last holder; zero
 * for a plain lock. The first permit has the name of the lock, and the others have their
 * number in the name, such as {@code export (permit 2)}
 */
public record LockInfo(String name, boolean held, @Nullable String holder, @Nullable String acquirer,
		@Nullable String thread, @Nullable String why, long token, @Nullable Instant acquiredAt,
		@Nullable Instant updatedAt, @Nullable Instant expiresAt, @Nullable Instant releasedAt, Duration remaining,
		int permits) {

	/**
	 * Create the state of a plain lock.
	 * @param name the full name of the lock, including the prefix
	 * @param held whether the lock has a holder whose lease has not expired
	 * @param holder the random id of the acquisition
	 * @param acquirer the instance that acquired the lock last
	 * @param thread the thread that acquired the lock last
	 * @param why the purpose for which that thread acquired the lock
	 * @param token the last fencing token that was reserved
	 * @param acquiredAt when the lock was last granted
	 * @param updatedAt when the lease was last granted or renewed
	 * @param expiresAt when the lock becomes available to others
	 * @param releasedAt when the lock was released
	 * @param remaining how long the lock remains unavailable
	 */
	public LockInfo(String name, boolean held, @Nullable String holder, @Nullable String acquirer,
			@Nullable String thread, @Nullable String why, long token, @Nullable Instant acquiredAt,
			@Nullable Instant updatedAt, @Nullable Instant expiresAt, @Nullable Instant releasedAt,
			Duration remaining) {
		this(name, held, holder, acquirer, thread, why, token, acquiredAt, updatedAt, expiresAt, releasedAt, remaining,
				0);
	}

}
