package dev.dblock;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * One acquisition of one lock. The handle can be used and closed from any thread.
 * <p>
 * Keep a reference to the handle as long as the lock is needed, in a {@code try} block or
 * in a field, or call {@link #keepUntilShutdown()}. If a handle becomes unreachable
 * without having been closed, a warning is logged and its lease is no longer renewed, so
 * the lock ends with its lease. It is never released before that, since its work may
 * continue without the handle. Its callbacks are garbage collected with it and do not
 * run.
 * <p>
 * The handle never considers its lease valid for longer than the server does: it measures
 * the lease with {@link System#nanoTime()} from before the request was sent. If the wall
 * clock shows that the machine was suspended meanwhile, for more than 250 milliseconds
 * and a thousandth of the elapsed time, the lease counts as unproven until the server has
 * confirmed it. A suspension during which both clocks stopped is detected only by the
 * next renewal.
 */
public interface LockHandle extends AutoCloseable {

	/**
	 * Return the full name of the lock, including the prefix.
	 * @return the name
	 */
	String name();

	/**
	 * Return the number of the permit, if the lock has several
	 * ({@link LockOptions#permits(int)}). No two holders have the same permit at the same
	 * time.
	 * @return the number, from 1; always 1 for a plain lock
	 */
	default int permit() {
		return 1;
	}

	/**
	 * Return the fencing token, which is strictly greater than that of every earlier
	 * grant of this name. If the lock has several permits, compare only tokens of the
	 * same {@link #permit() permit}. Pass it to other stores and have them reject a token
	 * lower than one they have seen (the idea is Martin Kleppmann's, "How to do
	 * distributed locking", 2016).
	 * @return the token
	 */
	long token();

	/**
	 * Whether the lock is held as far as this process knows. Sends no request to the
	 * server.
	 * @return {@code false} once the lock was released or lost, and while the lease is
	 * unproven
	 */
	boolean isHeld();

	/**
	 * Return how long the lock is held without a further renewal, by this process's
	 * monotonic clock. Sends no request to the server.
	 * @return the rest of the lease; zero if the lock is not held
	 */
	Duration remaining();

	/**
	 * Ensure that the lock is held. Sends a request to the server only if the lease is
	 * unproven because the machine was suspended.
	 * @throws LockLostException if it is not held
	 * @throws org.springframework.dao.DataAccessException if the lease is unproven and
	 * the request to the server fails
	 */
	void ensureHeld();

	/**
	 * Renew the lease now, so that it ends one lease from now by the server's clock.
	 * Needed only if automatic renewal is off.
	 * @throws LockLostException if the lock is no longer held
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails; the lease then remains unchanged
	 */
	void renew();

	/**
	 * Extend the lease to last at least the given time from now, by the server's clock.
	 * The lease is never shortened. Automatic renewal continues. The minimum hold still
	 * counts from the grant.
	 * @param atLeast how long the lock must be held at least
	 * @throws LockLostException if the lock is no longer held
	 * @throws IllegalArgumentException if the duration is not positive or longer than a
	 * lease can be
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails; the lease then remains unchanged
	 */
	default void extend(Duration atLeast) {
		extend(atLeast, Duration.ZERO);
	}

	/**
	 * Extend the lease and the minimum hold to last at least the given times from now, by
	 * the server's clock. Neither is shortened. Automatic renewal continues.
	 * @param atLeast how long the lock must be held at least
	 * @param minHold how long the lock must remain unavailable to others at least, even
	 * if it is released sooner; zero leaves the minimum hold unchanged
	 * @throws LockLostException if the lock is no longer held
	 * @throws IllegalArgumentException if the extension is not positive or longer than a
	 * lease can be, or if the minimum hold is negative or longer than the extension
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails; lease and minimum hold then remain unchanged
	 */
	void extend(Duration atLeast, Duration minHold);

	/**
	 * Start automatic renewal, if it was not on.
	 * @throws LockLostException if the lock is no longer held
	 * @throws IllegalStateException if the lease is shorter than
	 * {@link LockOptions#SHORTEST_RENEWED_LEASE}
	 */
	void startRenewal();

	/**
	 * Stop automatic renewal, if it was on. The lease then expires unless it is renewed
	 * by hand.
	 */
	void stopRenewal();

	/**
	 * Register a callback that runs if the lease is lost. Each callback has a thread of
	 * its own, so a slow one delays no other. If the lease is already lost, the callback
	 * runs in the calling thread before this method returns.
	 * @param callback the callback, which receives the reason of the loss
	 */
	void onLost(Consumer<LossReason> callback);

	/**
	 * Keep the lock until the application shuts down, as a leader does. No reference to
	 * the handle is needed from now on: the lock is renewed, if its options say so, and
	 * its callbacks run as long as it is held. At shutdown, after the beans that use the
	 * template are destroyed, the lock is released and does not count as lost.
	 * <p>
	 * The lock then belongs to the process and no longer to the calling thread: a loss
	 * does not interrupt the thread, and its transactions do not depend on the lock,
	 * except in {@link LockOperations#within}. Has no effect if the lock is no longer
	 * held.
	 */
	void keepUntilShutdown();

	/**
	 * Report that the work under the lock failed, so that the release records the run of
	 * the job as failed. {@code execute}, annotated methods, futures and reactive
	 * sequences do this themselves. The lock itself is not affected. Has no effect if the
	 * lock was not acquired for a planned time.
	 * @param cause the failure of the work
	 */
	default void runFailed(Throwable cause) {
	}

	/**
	 * Release the lock. The release is deferred while a transaction is open in which the
	 * lock was acquired, or which the acquiring thread began while it held the lock. It
	 * takes effect when the last of these transactions has ended. A second call does
	 * nothing.
	 * @return whether the lock was still held; {@code false} if it had been lost or
	 * released before
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * failed in three attempts; the handle nevertheless counts as released, and the lease
	 * expires
	 */
	boolean release();

	/**
	 * Release the lock at the end of a {@code try} block. Unlike {@link #release()}, only
	 * logs a failed request to the server, so that the failure does not hide the result
	 * of the work. A second call, or one after {@link #release()}, does nothing.
	 * @throws LockLostException if the lease was lost while the work was in progress
	 */
	@Override
	void close();

}
