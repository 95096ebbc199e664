package dev.dblock;

import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Locks by hand. Implemented by {@link LockTemplate}; inject this interface where a test
 * wants to put something else in its place.
 * <p>
 * Every method that takes a name throws {@link IllegalArgumentException} for one that
 * cannot be a lock's name (empty, blank, too long, with control characters). Every method
 * that speaks to the server throws Spring's
 * {@link org.springframework.dao.DataAccessException} when it cannot: an error is never
 * reported as "not available". A thread that is interrupted gets a
 * {@link LockInterruptedException}, one that asks while the application closes a
 * {@link LockShutdownException}.
 */
public interface LockOperations {

	/**
	 * Do something under a lock, waiting for it as configured. In a thread that works
	 * under the same lock already, the work is done at once (re-entry).
	 * @param name the name of the lock
	 * @param action the work
	 * @param <T> the type of its result
	 * @param <E> what it may throw
	 * @return the result of the work
	 * @throws LockUnavailableException when the lock is not available within the wait;
	 * the work was not started
	 * @throws LockLostException when the lease was lost before the end of the work; what
	 * the work threw itself is among the suppressed exceptions
	 * @throws E what the work throws
	 */
	default <T extends @Nullable Object, E extends Throwable> T execute(String name, LockedAction<T, E> action)
			throws E {
		return execute(name, LockOptions.defaults(), action);
	}

	/**
	 * Do something under a lock, see {@link #execute(String, LockedAction)}.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param action the work
	 * @param <T> the type of its result
	 * @param <E> what it may throw
	 * @return the result of the work
	 * @throws LockUnavailableException when the lock is not available within the wait
	 * @throws LockLostException when the lease was lost before the end of the work
	 * @throws E what the work throws
	 */
	default <T extends @Nullable Object, E extends Throwable> T execute(String name, LockOptions options,
			LockedAction<T, E> action) throws E {
		return execute(name, options, action, (refusal) -> {
			throw refusal.toException();
		});
	}

	/**
	 * Do something under a lock, or something else without it when it is not available
	 * within the wait.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param action the work
	 * @param fallback what to do when the lock is not available
	 * @param <T> the type of the result
	 * @param <E> what both may throw
	 * @return the result of the one that was done
	 * @throws LockLostException when the lease was lost before the end of the work
	 * @throws E what the work or the fallback throws
	 */
	<T extends @Nullable Object, E extends Throwable> T execute(String name, LockOptions options,
			LockedAction<T, E> action, LockedFallback<T, E> fallback) throws E;

	/**
	 * Do something without a result under a lock, see
	 * {@link #execute(String, LockedAction)}.
	 * @param name the name of the lock
	 * @param task the work
	 * @param <E> what it may throw
	 * @throws LockUnavailableException when the lock is not available within the wait
	 * @throws LockLostException when the lease was lost before the end of the work
	 * @throws E what the work throws
	 */
	default <E extends Throwable> void execute(String name, LockedTask<E> task) throws E {
		execute(name, LockOptions.defaults(), task);
	}

	/**
	 * Do something without a result under a lock, see
	 * {@link #execute(String, LockedAction)}.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param task the work
	 * @param <E> what it may throw
	 * @throws LockUnavailableException when the lock is not available within the wait
	 * @throws LockLostException when the lease was lost before the end of the work
	 * @throws E what the work throws
	 */
	default <E extends Throwable> void execute(String name, LockOptions options, LockedTask<E> task) throws E {
		LockedAction<LockedTask<E>, E> action = () -> {
			task.run();
			return task;
		};
		execute(name, options, action);
	}

	/**
	 * Acquire a lock now or not at all. Never re-enters.
	 * @param name the name of the lock
	 * @return the handle, to be released by the caller, or empty when somebody holds the
	 * lock
	 */
	default Optional<LockHandle> tryAcquire(String name) {
		return tryAcquire(name, LockOptions.defaults());
	}

	/**
	 * Acquire a lock, waiting for it as long as these options (and not the configured
	 * ones) say; without a wait among them, now or not at all. Never re-enters.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @return the handle, to be released by the caller, or empty when the lock did not
	 * become available
	 */
	Optional<LockHandle> tryAcquire(String name, LockOptions options);

	/**
	 * Acquire a lock, waiting for it as configured. Never re-enters.
	 * @param name the name of the lock
	 * @return the handle, to be released by the caller
	 * @throws LockUnavailableException when the lock is not available within the wait
	 */
	default LockHandle acquire(String name) {
		return acquire(name, LockOptions.defaults());
	}

	/**
	 * Acquire a lock. Never re-enters.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @return the handle, to be released by the caller
	 * @throws LockUnavailableException when the lock is not available within the wait
	 */
	LockHandle acquire(String name, LockOptions options);

	/**
	 * Look at one lock as the server has it.
	 * @param name the name of the lock
	 * @return its state, or empty when it was never acquired or has been cleaned up
	 */
	Optional<LockInfo> inspect(String name);

	/**
	 * Look at all locks as the server has them, those that are free included.
	 * @return the locks whose names begin with the configured prefix, by name
	 */
	List<LockInfo> list();

	/**
	 * Take a lock away from its holder, for operators. The holder is told at its next
	 * renewal and loses the lock; the name becomes free for others when the present lease
	 * ends, so that nobody overlaps the holder.
	 * @param name the name of the lock
	 * @return whether it had a holder
	 */
	boolean forceRelease(String name);

	/**
	 * Take a lock away from its holder and free its name at once, for operators. This
	 * gives up exclusion: the holder goes on until its next renewal and does not know
	 * that another may hold the lock already. Only for a holder that is known to be gone.
	 * @param name the name of the lock
	 * @return whether it had a holder or was still taken
	 */
	boolean forceReleaseNow(String name);

}
