package dev.dblock;

import java.time.Duration;
import java.util.Map;

/**
 * Several locks that were acquired together, and are given back together. They are held
 * as long as each of them is, and lost when one of them is; the others are kept
 * nevertheless until this is closed, since the work under them may go on. May be used and
 * closed from any thread.
 * <p>
 * A lock under which the acquiring thread worked already was re-entered: it is among
 * these, and given back by whoever ends last, the work around or this. (Where the work
 * around is a transaction that keeps the lock, or has locked it by
 * {@link LockOperations#asLock}, it ends there, and these are not held any more then.)
 */
public interface LockHandles extends AutoCloseable {

	/**
	 * The handle of each lock.
	 * @return the handles by the names that the locks were asked for with, in the order
	 * in which they were acquired, which is that of their names
	 */
	Map<String, LockHandle> handles();

	/**
	 * The fencing token of one of the locks. Each lock has its own.
	 * @param name the name that the lock was asked for with
	 * @return the token
	 * @throws IllegalArgumentException when the lock is not one of these
	 */
	long token(String name);

	/**
	 * Whether all of the locks are held for all that this process knows. Asks no server.
	 * @return {@code false} once they were given back, and once one of them was lost
	 */
	boolean isHeld();

	/**
	 * How long all of the locks are held without a further renewal.
	 * @return the shortest rest of a lease; zero when they are not held
	 */
	Duration remaining();

	/**
	 * Make sure that all of the locks are held, see {@link LockHandle#ensureHeld()}.
	 * @throws LockLostException when one is not
	 * @throws org.springframework.dao.DataAccessException when a lease is unproven and
	 * the server cannot be asked
	 */
	void ensureHeld();

	/**
	 * Renew all leases now, see {@link LockHandle#renew()}. When one cannot be renewed,
	 * the others are nevertheless.
	 * @throws LockLostException when one of the locks is not held any more
	 * @throws org.springframework.dao.DataAccessException when the server cannot be asked
	 */
	void renew();

	/**
	 * Make all leases last at least as long as is said here, see
	 * {@link LockHandle#extend(Duration)}.
	 * @param atLeast how long the locks are to be held at least
	 * @throws LockLostException when one of the locks is not held any more
	 * @throws IllegalArgumentException when the duration is not positive or longer than a
	 * lease may be
	 * @throws org.springframework.dao.DataAccessException when the server cannot be asked
	 */
	void extend(Duration atLeast);

	/**
	 * Start automatic renewal of all leases, see {@link LockHandle#startRenewal()}.
	 * @throws LockLostException when one of the locks is not held any more
	 */
	void startRenewal();

	/**
	 * Stop automatic renewal of all leases, see {@link LockHandle#stopRenewal()}.
	 */
	void stopRenewal();

	/**
	 * Run a callback once, when the first of the leases is lost, see
	 * {@link LockHandle#onLost(Runnable)}.
	 * @param callback what to run
	 */
	void onLost(Runnable callback);

	/**
	 * Give the locks back, the last one first, see {@link LockHandle#release()}. A second
	 * call does nothing.
	 * @return whether all of them were still held
	 * @throws org.springframework.dao.DataAccessException when the server could not be
	 * told of one of them; the others are given back nevertheless
	 */
	boolean release();

	/**
	 * Give the locks back at the end of a {@code try} block, the last one first, see
	 * {@link LockHandle#close()}. A second call, or one after {@link #release()}, does
	 * nothing.
	 * @throws LockLostException when one of the leases had been lost while the work went
	 * on; where others had been too, theirs are among the suppressed exceptions
	 */
	@Override
	void close();

}
