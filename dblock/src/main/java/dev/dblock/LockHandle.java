package dev.dblock;

import java.time.Duration;
import java.util.Optional;

import dev.dblock.job.JobRun;

/**
 * One acquisition of one lock. The handle may be used and closed from any thread.
 * <p>
 * Keep a reference to the handle as long as the lock is needed, in a {@code try} block or
 * in a field. When a handle becomes unreachable without having been closed, a warning is
 * logged and its lease is no longer renewed, so the lock ends with its lease. It is never
 * released before that, since its work may go on without the handle. Its callbacks are
 * collected with it and do not run.
 * <p>
 * The handle does not believe in its lease for longer than the server does: it counts the
 * lease with {@link System#nanoTime()} from before the request was sent. When the wall
 * clock shows that the machine was suspended meanwhile, for more than 250 milliseconds
 * and a thousandth of the time since, the lease counts as unproven until the server has
 * confirmed it. A suspension during which both clocks stopped is noticed only by the next
 * renewal.
 */
public interface LockHandle extends AutoCloseable {

	/**
	 * The full name of the lock, prefix included.
	 * @return the name
	 */
	String name();

	/**
	 * The fencing token: strictly greater than that of every earlier grant of this name.
	 * Send it along to other stores and have them refuse a token lower than one they have
	 * seen (the idea is Martin Kleppmann's, "How to do distributed locking", 2016).
	 * @return the token
	 */
	long token();

	/**
	 * Whether the lock is held for all that this process knows. Asks no server.
	 * @return {@code false} once the lock was released or lost, and while the lease is
	 * unproven
	 */
	boolean isHeld();

	/**
	 * How long the lock is held without a further renewal, by this process's monotonic
	 * clock. Asks no server.
	 * @return the rest of the lease; zero when the lock is not held
	 */
	Duration remaining();

	/**
	 * Make sure that the lock is held. Asks the server only when the lease is unproven
	 * because the machine was suspended.
	 * @throws LockLostException when it is not
	 * @throws org.springframework.dao.DataAccessException when the lease is unproven and
	 * the server cannot be asked
	 */
	void ensureHeld();

	/**
	 * Renew the lease now, for one lease from now by the server's clock. Needed only when
	 * automatic renewal is off.
	 * @throws LockLostException when the lock is not held any more
	 * @throws org.springframework.dao.DataAccessException when the server cannot be
	 * asked; the lease then stays as it was
	 */
	void renew();

	/**
	 * Make the lease last at least as long as is said here, from now by the server's
	 * clock; it is never shortened (ShedLock's {@code extend} can shorten). Automatic
	 * renewal goes on beside it. The minimum hold still counts from the grant.
	 * @param atLeast how long the lock is to be held at least
	 * @throws LockLostException when the lock is not held any more
	 * @throws IllegalArgumentException when the duration is not positive or longer than a
	 * lease may be
	 * @throws org.springframework.dao.DataAccessException when the server cannot be
	 * asked; the lease then stays as it was
	 */
	void extend(Duration atLeast);

	/**
	 * Start automatic renewal, if it was not on.
	 * @throws LockLostException when the lock is not held any more
	 */
	void startRenewal();

	/**
	 * Stop automatic renewal, if it was on. The lease then ends by itself unless it is
	 * renewed by hand.
	 */
	void stopRenewal();

	/**
	 * Run a callback when the lease is lost. Each callback has a thread of its own, so
	 * one that takes long delays no other. When the lease is lost already, the callback
	 * runs in the calling thread before this method returns.
	 * @param callback what to run
	 */
	void onLost(Runnable callback);

	/**
	 * The run of a job that the lock was granted for. It says which planned time that is,
	 * which is an earlier one than was asked for when a crashed run is repeated.
	 * @return the run as of the grant, without an outcome; empty if the lock was not
	 * acquired for a planned time
	 */
	default Optional<JobRun> run() {
		return Optional.empty();
	}

	/**
	 * Report that the work under the lock failed, so that the release records the run of
	 * the job as failed. {@code execute}, annotated methods, futures and reactive
	 * sequences do this themselves. Has no effect on the lock, and none at all if the
	 * lock was not acquired for a planned time.
	 * @param cause what the work failed with
	 */
	default void runFailed(Throwable cause) {
	}

	/**
	 * Give the lock back. While a transaction is open in which the lock was acquired, or
	 * that was begun by the acquiring thread while it held the lock, the release takes
	 * effect when the last of them has ended. A second call does nothing.
	 * @return whether the lock was still held; {@code false} when it had been lost or
	 * released before
	 * @throws org.springframework.dao.DataAccessException when the server could not be
	 * told in three attempts; the handle counts as released nevertheless, and the lease
	 * ends by itself
	 */
	boolean release();

	/**
	 * Give the lock back at the end of a {@code try} block. Like {@link #release()}, but
	 * a server that cannot be told is only logged, so that nothing hides the result of
	 * the work. A second call, or one after {@link #release()}, does nothing.
	 * @throws LockLostException when the lease had been lost while the work went on
	 */
	@Override
	void close();

}
