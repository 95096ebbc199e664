package dev.dblock.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import org.jspecify.annotations.Nullable;

/**
 * A handle as this library uses it, in addition to what applications can do with it.
 */
public interface HeldLock extends LockHandle {

	/**
	 * Begin work under this lock in addition to the work that acquired it. From now on,
	 * the lease lasts at least as long as the lease in the options. If the options
	 * require automatic renewal, the lease is renewed until the work has ended. A request
	 * is sent to the server only if the lease would otherwise be too short. The remaining
	 * options have no effect.
	 * @param options the options with which the work would have acquired the lock,
	 * {@linkplain LockEngine#complete completed}
	 * @return ends the re-entry; to be run when the work has ended
	 * @throws dev.dblock.LockLostException if the lock is no longer held
	 * @throws IllegalStateException if this is one of several permits, and the work would
	 * have requested fewer of them or a plain lock
	 * @throws dev.dblock.LockInterruptedException if the thread was interrupted during
	 * the request; its interrupt status is set
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails; the lease then remains unchanged
	 */
	Runnable reenter(LockOptions options);

	/**
	 * Let the lease and the minimum hold end exactly after the given times from now, by
	 * the server's clock, even if they would otherwise last longer. This is the meaning
	 * of ShedLock's {@code SimpleLock.extend}. Automatic renewal stops, since it would
	 * move the end again.
	 * <p>
	 * The lease counts as held until the earlier of the old and the new end, from before
	 * the request is sent until it is answered. So the handle never considers its lease
	 * valid for longer than the server does, in whatever order the server applies this
	 * request and a renewal in progress. A renewal or an extension that another thread
	 * requests before this method returns may not count for this handle.
	 * @param duration how long the lock must be held
	 * @param minHold how long the lock must remain unavailable to others, even if it is
	 * released sooner; zero means none
	 * @throws dev.dblock.LockLostException if the lock is no longer held
	 * @throws IllegalArgumentException if the duration is not positive or longer than a
	 * lease can be, or if the minimum hold is negative or longer than the duration
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails. It may have been applied, so the lease then counts until the earlier of both
	 * ends, until {@link #renew()}, an extension, or this method succeeds. The minimum
	 * hold remains unchanged
	 */
	void extendExactly(Duration duration, Duration minHold);

	/**
	 * Release the lock, under which no work was done, immediately and without a trace:
	 * neither an open transaction nor a minimum hold delays the release. If the server is
	 * unreachable, the failure is only logged.
	 */
	void releaseUnused();

	/**
	 * Refuse requests to run once more from now on, unless there is one that was not seen
	 * yet.
	 * @param seen the last request that was seen; {@code null} if there was none
	 * @return a request that has to be served by another run; empty if there is none, or
	 * if the lock is no longer held
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails, or if the thread was interrupted
	 * @see LockEngine#acquireAskable
	 */
	Optional<String> closeRequests(@Nullable String seen);

	/**
	 * Begin work in the current thread under a lock that may have been acquired by
	 * another thread. Until {@link #detach}, the transactions of the thread depend on the
	 * lock as well, and the thread is interrupted at a loss if that was requested.
	 */
	void attach();

	/**
	 * Turn the current thread to other work while the lock is still held. From now on,
	 * the lock does not affect the work of the thread.
	 */
	void detach();

	/**
	 * Announce that the work under the lock has ended and that another thread is about to
	 * release it. If the engine is closed before that, the lock does not count as still
	 * in use.
	 */
	void aboutToRelease();

	/**
	 * Remove a loss callback of work that has ended, so that it is not kept for as long
	 * as another owner may hold the lock.
	 * @param callback the callback that was passed to {@link #onLost(Consumer)}; has no
	 * effect if it was not
	 */
	void forget(Consumer<LossReason> callback);

	/**
	 * Return a handle as this library uses it.
	 * @param handle the handle
	 * @return the same handle, or {@code null} if it is none of this library's, or if
	 * locking is disabled
	 */
	static @Nullable HeldLock of(LockHandle handle) {
		return (handle instanceof HeldLock held) ? held : null;
	}

	/**
	 * Return whether a handle stands for no lock, because locking is disabled.
	 * @param handle the handle
	 * @return whether an engine that {@linkplain LockEngine#unlocked locks nothing}
	 * created it
	 */
	static boolean isUnlocked(LockHandle handle) {
		return handle instanceof UnlockedHandle;
	}

}
