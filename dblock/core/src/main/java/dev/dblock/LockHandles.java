package dev.dblock;

import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Several locks that were acquired together and are released together. They are held as
 * long as each of them is held, and lost if one of them is lost. The other locks are
 * nevertheless kept until this is closed, since the work under them may continue. Can be
 * used and closed from any thread.
 * <p>
 * A lock under which the acquiring thread already worked was re-entered. It is one of
 * these locks, and is released when both the outer work and this have ended. If the outer
 * work is a transaction that keeps the lock, or code that has locked it by
 * {@link LockOperations#asLock}, the lock ends with the outer work, and these locks are
 * then no longer held.
 */
public interface LockHandles extends AutoCloseable {

	/**
	 * Return the handle of each lock.
	 * @return the handles by the requested names of the locks, in the order of
	 * acquisition, which is that of their names
	 */
	Map<String, LockHandle> handles();

	/**
	 * Return the fencing token of one of the locks. Each lock has its own.
	 * @param name the name with which the lock was requested
	 * @return the token
	 * @throws IllegalArgumentException if the lock is not one of these
	 */
	long token(String name);

	/**
	 * Whether all of the locks are held as far as this process knows. Sends no request to
	 * the server.
	 * @return {@code false} once they were released, and once one of them was lost
	 */
	boolean isHeld();

	/**
	 * Return how long all of the locks are held without a further renewal.
	 * @return the shortest rest of a lease; zero if they are not held
	 */
	Duration remaining();

	/**
	 * Ensure that all of the locks are held, see {@link LockHandle#ensureHeld()}.
	 * @throws LockLostException if one is not held
	 * @throws org.springframework.dao.DataAccessException if a lease is unproven and the
	 * request to the server fails
	 */
	void ensureHeld();

	/**
	 * Renew all leases now, see {@link LockHandle#renew()}. If one cannot be renewed, the
	 * others are renewed nevertheless.
	 * @throws LockLostException if one of the locks is no longer held
	 * @throws org.springframework.dao.DataAccessException if a request to the server
	 * fails
	 */
	void renew();

	/**
	 * Extend all leases to last at least the given time from now, see
	 * {@link LockHandle#extend(Duration)}.
	 * @param atLeast how long the locks must be held at least
	 * @throws LockLostException if one of the locks is no longer held
	 * @throws IllegalArgumentException if the duration is not positive or longer than a
	 * lease can be
	 * @throws org.springframework.dao.DataAccessException if a request to the server
	 * fails
	 */
	void extend(Duration atLeast);

	/**
	 * Extend all leases and minimum holds to last at least the given times from now, see
	 * {@link LockHandle#extend(Duration, Duration)}.
	 * @param atLeast how long the locks must be held at least
	 * @param minHold how long the locks must remain unavailable to others at least
	 * @throws LockLostException if one of the locks is no longer held
	 * @throws IllegalArgumentException if one of the durations is invalid
	 * @throws org.springframework.dao.DataAccessException if a request to the server
	 * fails
	 */
	void extend(Duration atLeast, Duration minHold);

	/**
	 * Start automatic renewal of all leases, see {@link LockHandle#startRenewal()}.
	 * @throws LockLostException if one of the locks is no longer held
	 */
	void startRenewal();

	/**
	 * Stop automatic renewal of all leases, see {@link LockHandle#stopRenewal()}.
	 */
	void stopRenewal();

	/**
	 * Register a callback that runs once, when the first of the leases is lost, see
	 * {@link LockHandle#onLost(Consumer)}.
	 * @param callback the callback, which receives the reason of the loss
	 */
	void onLost(Consumer<LossReason> callback);

	/**
	 * Keep the locks that were acquired for these handles until the application shuts
	 * down, see {@link LockHandle#keepUntilShutdown()}. A lock that was re-entered ends
	 * with the outer work.
	 */
	void keepUntilShutdown();

	/**
	 * Release the locks in reverse order of acquisition, see
	 * {@link LockHandle#release()}. A second call does nothing.
	 * @return whether all of them were still held
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * failed for one of them; the others are released nevertheless
	 */
	boolean release();

	/**
	 * Release the locks at the end of a {@code try} block in reverse order of
	 * acquisition, see {@link LockHandle#close()}. A second call, or one after
	 * {@link #release()}, does nothing.
	 * @throws LockLostException if one of the leases was lost while the work was in
	 * progress; the losses of other leases are among the suppressed exceptions
	 */
	@Override
	void close();

}
