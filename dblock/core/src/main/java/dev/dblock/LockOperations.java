package dev.dblock;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

/**
 * Programmatic locking, by the {@link LockTemplate} bean.
 * <p>
 * The methods that run work throw its exceptions unchanged, including checked ones, which
 * they do not declare. So a lambda can throw any exception, in Java as in Kotlin. Code
 * that wants to catch a checked one around the call catches {@code Exception}. Work
 * without a result is a variable argument, because Kotlin would otherwise prefer it to
 * work with a result.
 * <p>
 * Every method that takes a name throws {@link IllegalArgumentException} if the name is
 * not valid for a lock (empty, blank, too long, with control characters). Every method
 * that sends a request to the server throws Spring's
 * {@link org.springframework.dao.DataAccessException} if the request fails: an error is
 * never reported as "not available". If the thread is interrupted while it requests or
 * waits for a lock, the methods throw {@link LockInterruptedException}. If the
 * application is shutting down, they throw {@link LockShutdownException}.
 */
public interface LockOperations {

	/**
	 * Execute an action under a lock, and wait for the lock as configured. In a thread
	 * that already works under the same lock, the action runs immediately (re-entry). A
	 * handle that the thread has acquired by hand is re-entered only in {@link #within}.
	 * Otherwise the lock is refused as in {@link #acquire(String, LockOptions)}, since
	 * the thread would wait for itself. After a re-entry, the lease lasts at least as
	 * long as this call requires, counted from its beginning, and is renewed until the
	 * end of the call if the call requires that. A request is sent to the server only if
	 * the lease would otherwise be shorter. The lease is not extended beyond the maximum
	 * hold of the outermost call.
	 * <p>
	 * The lock is released when the action returns. So the result must not represent work
	 * that continues, or only begins, afterwards: a future that has not completed, a
	 * publisher, a stream, an iterator or a {@code Callable}, also as the only content of
	 * an {@code Optional} or a response. Such a result is rejected after the action has
	 * run, regardless of its declared type, and the lock is released. Use
	 * {@link #executeAsync} or {@code ReactiveLockTemplate} instead, or within the
	 * action: work that they begin under the same lock keeps the lock until it ends. The
	 * result of a re-entered call is not checked here, but by the call that acquired the
	 * lock. The result of a fallback, which runs without a lock, is not checked.
	 * @param name the name of the lock
	 * @param action the work
	 * @param <T> the type of its result
	 * @return the result of the work
	 * @throws LockUnavailableException if the lock is not available within the wait; the
	 * work was not started
	 * @throws LockLostException if the lease was lost before the work ended; an exception
	 * of the work itself is among the suppressed exceptions
	 * @throws IllegalStateException if the work continues after its result was returned
	 */
	default <T extends @Nullable Object> T execute(String name, LockedAction<T> action) {
		return execute(name, LockOptions.defaults(), action);
	}

	/**
	 * Execute an action under a lock, see {@link #execute(String, LockedAction)}.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param action the work
	 * @param <T> the type of its result
	 * @return the result of the work
	 * @throws LockUnavailableException if the lock is not available within the wait
	 * @throws LockLostException if the lease was lost before the work ended
	 */
	default <T extends @Nullable Object> T execute(String name, LockOptions options, LockedAction<T> action) {
		return execute(name, options, action, (refusal) -> {
			throw refusal.toException();
		});
	}

	/**
	 * Execute an action under a lock, or a fallback without the lock if it is not
	 * available within the wait.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param action the work
	 * @param fallback the work to do if the lock is not available
	 * @param <T> the type of the result
	 * @return the result of the action or of the fallback
	 * @throws LockLostException if the lease was lost before the work ended
	 */
	<T extends @Nullable Object> T execute(String name, LockOptions options, LockedAction<T> action,
			LockedFallback<T> fallback);

	/**
	 * Run work without a result under a lock, see {@link #execute(String, LockedAction)}.
	 * @param name the name of the lock
	 * @param tasks the work, usually a single lambda; several are run one after another
	 * @throws LockUnavailableException if the lock is not available within the wait
	 * @throws LockLostException if the lease was lost before the work ended
	 */
	default void execute(String name, LockedTask... tasks) {
		execute(name, LockOptions.defaults(), tasks);
	}

	/**
	 * Run work without a result under a lock, see {@link #execute(String, LockedAction)}.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param tasks the work, usually a single lambda; several are run one after another
	 * @throws LockUnavailableException if the lock is not available within the wait
	 * @throws LockLostException if the lease was lost before the work ended
	 */
	default void execute(String name, LockOptions options, LockedTask... tasks) {
		execute(name, options, inOrder(tasks));
	}

	/**
	 * Bring something up to date, see
	 * {@link #executeOrRunAgain(String, LockOptions, LockedTask)}.
	 * @param name the name of the lock
	 * @param task the work
	 * @return whether the work ran in this call
	 */
	default boolean executeOrRunAgain(String name, LockedTask task) {
		return executeOrRunAgain(name, LockOptions.defaults(), task);
	}

	/**
	 * Bring something up to date, such as an index or a cache: run the work under a lock,
	 * or ask the holder of the lock to run it once more. Every call is served by a run
	 * that begins after it, in this call or another; any number of calls during a run
	 * cause one more run. If the holder crashes, loses the lock, is interrupted, or gets
	 * no answer from the server, the next call serves the requests to it.
	 * <p>
	 * This call returns when it has asked, or when there is no request for another run.
	 * All users of the name use this method, with the same work. If a run fails and
	 * another one was requested meanwhile, the failure is logged, and the outcome is that
	 * of the last run. A wait and a minimum hold in the options have no effect. A call in
	 * a thread that already works under the lock runs the work immediately (re-entry).
	 * <p>
	 * The thread must not have a transaction: a run by another instance could begin
	 * before its commit. In Spring's callbacks after the commit, the transaction has not
	 * ended for its thread, and work that joins it is not committed. So request the work
	 * there in another thread.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param task the work, which has ended when it returns
	 * @return whether the work ran in this call; otherwise the holder was asked
	 * @throws LockUnavailableException if the lock is held for other work, or does not
	 * become free although its holder has ended its work
	 * @throws LockLostException if the lease was lost before the work ended
	 * @throws IllegalStateException if the thread has a transaction, or if work under the
	 * lock continues after the task has returned
	 */
	boolean executeOrRunAgain(String name, LockOptions options, LockedTask task);

	/**
	 * Execute asynchronous work under a lock, see
	 * {@link #executeAsync(String, LockOptions, LockedAction, LockedFallback)}.
	 * @param name the name of the lock
	 * @param action begins the work
	 * @param <T> the type of the result
	 * @return the result of the action; if the lock is not available within the wait, a
	 * stage that is completed with a {@link LockUnavailableException}
	 * @throws IllegalArgumentException if the name is invalid
	 */
	default <T extends @Nullable Object> @Nullable CompletionStage<T> executeAsync(String name,
			LockedAction<? extends @Nullable CompletionStage<T>> action) {
		return executeAsync(name, LockOptions.defaults(), action);
	}

	/**
	 * Execute asynchronous work under a lock, see
	 * {@link #executeAsync(String, LockOptions, LockedAction, LockedFallback)}.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param action begins the work
	 * @param <T> the type of the result
	 * @return the result of the action; if the lock is not available within the wait, a
	 * stage that is completed with a {@link LockUnavailableException}
	 * @throws IllegalArgumentException if the name or the options are invalid
	 */
	default <T extends @Nullable Object> @Nullable CompletionStage<T> executeAsync(String name, LockOptions options,
			LockedAction<? extends @Nullable CompletionStage<T>> action) {
		return executeAsync(name, options, action, (refusal) -> CompletableFuture.failedFuture(refusal.toException()));
	}

	/**
	 * Execute asynchronous work under a lock. The lock is held until the stage that the
	 * action returns has completed. The action itself runs in this thread, which waits
	 * for the lock as configured. If this thread already works under the same lock, the
	 * work shares that hold, which then ends with the last of the two. If that hold
	 * cannot outlast the work around it, as inside of {@link #within} or {@link #asLock},
	 * or under a lock that a transaction keeps, this method returns when the work has
	 * ended or the lock was lost, also if the thread is interrupted.
	 * <p>
	 * The returned stage completes after the lock was released, with the outcome of the
	 * action's stage. If the lease is lost, it completes with a {@link LockLostException}
	 * at the moment of the loss, whether or not the work continues. A cancellation stops
	 * the work only if the action's stage is a future that supports this (not a plain
	 * {@link CompletableFuture}, whose cancellation stops nothing); the lock is held
	 * until the work has ended. If this method returned the action's stage for another
	 * lock, the work is followed to its end, and not only to a loss of the other lock. A
	 * stage that is derived from such a stage is followed only to its own completion.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it; with {@link WhenLost#INTERRUPT} a loss
	 * also cancels the action's stage
	 * @param action begins the work
	 * @param fallback the work to do if the lock is not available
	 * @param <T> the type of the result
	 * @return the result of the action or of the fallback; if acquiring the lock fails, a
	 * stage that is completed with that exception
	 * @throws IllegalArgumentException if the name or the options are invalid
	 */
	<T extends @Nullable Object> @Nullable CompletionStage<T> executeAsync(String name, LockOptions options,
			LockedAction<? extends @Nullable CompletionStage<T>> action,
			LockedFallback<? extends @Nullable CompletionStage<T>> fallback);

	/**
	 * Execute an action in this thread under a lock that was acquired by hand, in this
	 * thread or another. {@link LockContext#current()} then returns this lock,
	 * {@link #execute} re-enters it, and transactions that begin meanwhile depend on it.
	 * The lock is neither acquired nor released.
	 * @param handle a handle of this template
	 * @param action the work
	 * @param <T> the type of its result
	 * @return the result of the work
	 * @throws LockLostException if the lock is no longer held when the work is about to
	 * begin, or when it has ended; an exception of the work is among the suppressed
	 * exceptions
	 */
	<T extends @Nullable Object> T within(LockHandle handle, LockedAction<T> action);

	/**
	 * Try to acquire a lock without waiting. Never re-enters, see
	 * {@link #acquire(String, LockOptions)}.
	 * @param name the name of the lock
	 * @return the handle, which the caller has to release. Empty if another holder has
	 * the lock, or if threads of this process wait for it and let other processes have it
	 * first
	 */
	default Optional<LockHandle> tryAcquire(String name) {
		return tryAcquire(name, LockOptions.defaults());
	}

	/**
	 * Try to acquire a lock, and wait for it if the options have a wait. If they have
	 * none, the lock is requested once, even if a default wait is configured. A wait that
	 * operators set for this name ({@code dblock.locks}) takes precedence over that of
	 * the options. Never re-enters, see {@link #acquire(String, LockOptions)}.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it; except for the wait, they default to
	 * {@code dblock.*}
	 * @return the handle, which the caller has to release, or empty if the lock did not
	 * become available
	 */
	Optional<LockHandle> tryAcquire(String name, LockOptions options);

	/**
	 * Acquire a lock, and wait for it as configured, see
	 * {@link #acquire(String, LockOptions)}.
	 * @param name the name of the lock
	 * @return the handle, which the caller has to release
	 * @throws LockUnavailableException if the lock is not available within the wait
	 */
	default LockHandle acquire(String name) {
		return acquire(name, LockOptions.defaults());
	}

	/**
	 * Acquire a lock. Never re-enters: if this thread holds the lock itself, the lock is
	 * refused at once, in spite of any wait. Only if the lease that it holds is not
	 * renewed and ends within the wait, the thread waits for that.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @return the handle, which the caller has to release
	 * @throws LockUnavailableException if the lock is not available within the wait
	 */
	LockHandle acquire(String name, LockOptions options);

	/**
	 * Execute an action under several locks, see {@link #executeAll(Map, LockedAction)}.
	 * @param names the names of the locks, in any order; duplicates count once
	 * @param action the work
	 * @param <T> the type of its result
	 * @return the result of the work
	 * @throws LockUnavailableException if one of the locks is not available within the
	 * wait
	 * @throws LockLostException if one of the leases was lost before the work ended
	 */
	default <T extends @Nullable Object> T executeAll(Collection<String> names, LockedAction<T> action) {
		return executeAll(names, LockOptions.defaults(), action);
	}

	/**
	 * Execute an action under several locks, see {@link #executeAll(Map, LockedAction)}.
	 * @param names the names of the locks, in any order; duplicates count once
	 * @param options how to acquire and hold each of them
	 * @param action the work
	 * @param <T> the type of its result
	 * @return the result of the work
	 * @throws LockUnavailableException if one of the locks is not available within the
	 * wait
	 * @throws LockLostException if one of the leases was lost before the work ended
	 */
	default <T extends @Nullable Object> T executeAll(Collection<String> names, LockOptions options,
			LockedAction<T> action) {
		return executeAll(LockOptions.forEach(names, options), action);
	}

	/**
	 * Run work without a result under several locks, see
	 * {@link #executeAll(Map, LockedAction)}.
	 * @param names the names of the locks, in any order; duplicates count once
	 * @param tasks the work, usually a single lambda; several are run one after another
	 * @throws LockUnavailableException if one of the locks is not available within the
	 * wait
	 * @throws LockLostException if one of the leases was lost before the work ended
	 */
	default void executeAll(Collection<String> names, LockedTask... tasks) {
		executeAll(names, LockOptions.defaults(), tasks);
	}

	/**
	 * Run work without a result under several locks, see
	 * {@link #executeAll(Map, LockedAction)}.
	 * @param names the names of the locks, in any order; duplicates count once
	 * @param options how to acquire and hold each of them
	 * @param tasks the work, usually a single lambda; several are run one after another
	 * @throws LockUnavailableException if one of the locks is not available within the
	 * wait
	 * @throws LockLostException if one of the leases was lost before the work ended
	 */
	default void executeAll(Collection<String> names, LockOptions options, LockedTask... tasks) {
		executeAll(names, options, inOrder(tasks));
	}

	/**
	 * Execute an action under several locks, all or none. They are acquired as by
	 * {@link #acquireAll(Map)}, and released at the end in reverse order.
	 * {@link LockContext#current(String)} finds each of them.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @param action the work
	 * @param <T> the type of its result
	 * @return the result of the work
	 * @throws LockUnavailableException if one of the locks is not available within its
	 * wait; the work was not started, and none of them is held
	 * @throws LockLostException if one of the leases was lost before the work ended; an
	 * exception of the work itself is among the suppressed exceptions
	 */
	default <T extends @Nullable Object> T executeAll(Map<String, LockOptions> locks, LockedAction<T> action) {
		return executeAll(locks, action, (refusal) -> {
			throw refusal.toException();
		});
	}

	/**
	 * Run work without a result under several locks, see
	 * {@link #executeAll(Map, LockedAction)}.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @param tasks the work, usually a single lambda; several are run one after another
	 * @throws LockUnavailableException if one of the locks is not available within its
	 * wait
	 * @throws LockLostException if one of the leases was lost before the work ended
	 */
	default void executeAll(Map<String, LockOptions> locks, LockedTask... tasks) {
		executeAll(locks, inOrder(tasks));
	}

	/**
	 * Execute an action under several locks, or a fallback without them if one of them is
	 * not available within its wait, see {@link #executeAll(Map, LockedAction)}.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @param action the work
	 * @param fallback the work to do if one of the locks, which the refusal names, is not
	 * available
	 * @param <T> the type of the result
	 * @return the result of the action or of the fallback
	 * @throws LockLostException if one of the leases was lost before the work ended
	 */
	<T extends @Nullable Object> T executeAll(Map<String, LockOptions> locks, LockedAction<T> action,
			LockedFallback<T> fallback);

	/**
	 * Return a template for the locks of one call, all or none. Each of its calls runs
	 * under all of these locks, regardless of the name that is passed, as
	 * {@link #executeAll} does.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @return the template
	 * @throws IllegalArgumentException if no lock is named
	 */
	LockOperations forAll(Map<String, LockOptions> locks);

	/**
	 * Try to acquire several locks, or none of them, without waiting, see
	 * {@link #acquireAll(Map)}.
	 * @param names the names of the locks, in any order; duplicates count once
	 * @return the handles, which the caller has to release, or empty if another holder
	 * has one of the locks
	 */
	default Optional<LockHandles> tryAcquireAll(String... names) {
		return tryAcquireAll(Arrays.asList(names), LockOptions.defaults());
	}

	/**
	 * Try to acquire several locks, or none of them, and wait if the options have a wait.
	 * If they have none, each lock is requested once, even if a default wait is
	 * configured. A wait that operators set for a name ({@code dblock.locks}) takes
	 * precedence over that of the options. See {@link #acquireAll(Map)}.
	 * @param names the names of the locks, in any order; duplicates count once
	 * @param options how to acquire and hold each of them
	 * @return the handles, which the caller has to release, or empty if one of the locks
	 * did not become available
	 */
	default Optional<LockHandles> tryAcquireAll(Collection<String> names, LockOptions options) {
		return tryAcquireAll(LockOptions.forEach(names, options));
	}

	/**
	 * Try to acquire several locks, or none of them, and wait for those whose options
	 * have a wait. A lock whose options have none is requested once, even if a default
	 * wait is configured. A wait that operators set for a name ({@code dblock.locks})
	 * takes precedence over that of the options. See {@link #acquireAll(Map)}.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @return the handles, which the caller has to release, or empty if one of the locks
	 * did not become available
	 */
	Optional<LockHandles> tryAcquireAll(Map<String, LockOptions> locks);

	/**
	 * Acquire several locks, or none of them, and wait as configured, see
	 * {@link #acquireAll(Map)}.
	 * @param names the names of the locks, in any order; duplicates count once
	 * @return the handles, which the caller has to release
	 * @throws LockUnavailableException if one of the locks is not available within the
	 * wait; none of them is then held
	 */
	default LockHandles acquireAll(String... names) {
		return acquireAll(Arrays.asList(names), LockOptions.defaults());
	}

	/**
	 * Acquire several locks, or none of them, see {@link #acquireAll(Map)}.
	 * @param names the names of the locks, in any order; duplicates count once
	 * @param options how to acquire and hold each of them
	 * @return the handles, which the caller has to release
	 * @throws LockUnavailableException if one of the locks is not available within the
	 * wait; none of them is then held
	 */
	default LockHandles acquireAll(Collection<String> names, LockOptions options) {
		return acquireAll(LockOptions.forEach(names, options));
	}

	/**
	 * Acquire several locks, or none of them.
	 * <p>
	 * The locks are acquired in the order of their names, regardless of the order in
	 * which they are given. This rules out a circular wait between threads that use this
	 * method. A lock under which this thread already works (by {@code execute}, by an
	 * annotation, or by {@link #asLock}) is re-entered. A lock that the thread has
	 * acquired by hand is not re-entered, but refused as in
	 * {@link #acquire(String, LockOptions)}. A re-entered lock cannot be acquired in the
	 * order of the names. So the other locks whose names come before it are requested
	 * once, without waiting. (Locks that are nested without being named together are
	 * acquired in the order of nesting. Two threads that nest them in opposite order wait
	 * for each other until the wait of one of them is over.)
	 * <p>
	 * The wait of each lock counts from the beginning of this call, so the wait for
	 * several locks is not longer than the wait for one. During the wait, the locks that
	 * are already held are renewed, even if their options disable that, up to their
	 * maximum hold; leases of less than half a second are not. If a lock is refused, a
	 * request fails, or the thread is interrupted, the locks that are already held are
	 * released, even inside a transaction or a minimum hold.
	 * <p>
	 * Transactions under the locks are fenced by each of them.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @return the handles, which the caller has to release
	 * @throws LockUnavailableException if one of the locks is not available within its
	 * wait; none of them is then held
	 * @throws LockLostException if one of the locks was lost during the wait for another,
	 * or if one that is to be re-entered is no longer held
	 * @throws IllegalArgumentException if no lock is named
	 */
	LockHandles acquireAll(Map<String, LockOptions> locks);

	/**
	 * Return a lock as a {@link Lock}, see {@link #asLock(String, LockOptions)}.
	 * @param name the name of the lock
	 * @return the lock
	 */
	default Lock asLock(String name) {
		return asLock(name, LockOptions.defaults());
	}

	/**
	 * Return a lock as a {@link Lock}, for code that requires this type:
	 *
	 * <pre class="code">
	 * Lock lock = lockTemplate.asLock("stock");
	 * lock.lock();
	 * try {
	 *     reserve(item);
	 * }
	 * finally {
	 *     lock.unlock();
	 * }
	 * </pre>
	 *
	 * Any two instances for one name represent the same lock. They have no state other
	 * than that of the threads that have locked them. So they can be kept, or created for
	 * each use.
	 * <p>
	 * <b>Lease.</b> An ordinary {@code Lock} is held until it is unlocked, since it ends
	 * with its process. A distributed lock outlives a crash of its holder, so the server
	 * grants it for a limited time, the lease. The lease is renewed in the background for
	 * as long as the lock is locked, and expires after a crash of the process. But it
	 * also ends if the server is unreachable for the duration of the lease, if the
	 * process is paused for that long, or if an operator releases the lock by force.
	 * Another holder may then have locked it although this thread has not unlocked it. A
	 * {@code Lock} cannot report this at once, so the next call of one of its methods
	 * does:
	 * <ul>
	 * <li>{@code unlock()} throws a {@link java.util.ConcurrentModificationException},
	 * with the {@link LockLostException} as its cause: the work was done, and another
	 * holder may have done the same work meanwhile. The lock counts as unlocked.</li>
	 * <li>Locking again in the thread that has already locked it checks the lease:
	 * {@code tryLock} returns {@code false}, and {@code lock} and
	 * {@code lockInterruptibly} throw {@code LockLostException}. This is reported once.
	 * After that, the thread can lock again as if it had never held the lock. Each unlock
	 * that is still due for the lost lock then ends in the exception above, after the
	 * unlocks for the new lock.</li>
	 * </ul>
	 * Work that must not continue without the lock checks its handle
	 * ({@code LockContext.current(fullName)}), which also has the fencing token. It can
	 * also be notified in its thread ({@link WhenLost#INTERRUPT}), by an event, or by its
	 * transaction, which is not committed.
	 * <p>
	 * <b>Ownership and re-entry.</b> The thread that locks has to unlock. In any other
	 * thread, {@code unlock()} throws {@link IllegalMonitorStateException}. The thread
	 * that has locked it can lock it again (re-entry). Re-entry also works by
	 * {@link #execute} and by annotated methods, and vice versa. It can extend the lease
	 * as described for {@link #execute(String, LockedAction)}, and then throws the same
	 * exceptions if the request to the server fails. The lock is released at the
	 * outermost end. A handle that the thread has acquired by hand is not re-entered
	 * (unless the thread works {@link #within within} it), but refused as in
	 * {@link #acquire(String, LockOptions)}: {@code tryLock} returns {@code false}, and
	 * {@code lock} and {@code lockInterruptibly} throw {@link IllegalStateException},
	 * since the thread would wait for itself. If a thread ends without unlocking, the
	 * lock ends with its lease, which is no longer renewed once the garbage collector has
	 * detected this. If the lock is unlocked inside a transaction, it is released when
	 * the transaction ends.
	 * <p>
	 * <b>Waiting.</b> {@code lock} and {@code lockInterruptibly} wait until they acquire
	 * the lock, regardless of the options, and keep trying while the server is
	 * unreachable. {@code tryLock()} requests the lock once. {@code tryLock(time, unit)}
	 * waits for the given time. {@code lock()} and {@code tryLock()} cannot be
	 * interrupted; the other two can. Conditions are not supported. The exceptions of all
	 * methods of this interface apply here as well: {@code tryLock} throws Spring's
	 * {@link org.springframework.dao.DataAccessException} if the request to the server
	 * fails, and a {@link LockShutdownException} is thrown once the application is
	 * shutting down. {@code unlock()} only logs a failed request, and the lock ends with
	 * its lease.
	 * @param name the name of the lock
	 * @param options how to hold it
	 * @return the lock
	 * @throws IllegalArgumentException if the options are invalid
	 */
	Lock asLock(String name, LockOptions options);

	/**
	 * Return the state of one lock as stored on the server. If a lock is handed over
	 * between threads of one process, the server knows only the first of these threads.
	 * Only in that process does this method report the thread that holds the lock. Each
	 * permit of a lock has a state of its own: the first one under the name of the lock,
	 * the second one under {@code name (permit 2)}.
	 * @param name the name of the lock
	 * @return its state, or empty if it was never acquired or has been cleaned up
	 */
	Optional<LockInfo> inspect(String name);

	/**
	 * Return the first thousand locks that are unavailable, see
	 * {@link #list(String, int)}.
	 * @return the locks whose names begin with the configured prefix, by name
	 */
	default LockPage list() {
		return list("", 1000);
	}

	/**
	 * Return locks that are unavailable at present, as stored on the server: those that
	 * are held, that are in their minimum hold, or whose lease has not ended after a
	 * forced release. The server reads all documents after the given name for this, for
	 * at most the time limit of one request ({@code dblock.mongodb.timeout}). The result
	 * is not a snapshot: locks change while it is read, and between two pages.
	 * @param after the full name after which the list begins, such as that of the last
	 * lock of the page before; an empty text for the first page
	 * @param limit the largest number of locks, at most {@value LockPage#LARGEST}
	 * @return the locks whose names begin with the configured prefix, by name
	 * @throws IllegalArgumentException if the limit is not positive or too large
	 */
	LockPage list(String after, int limit);

	/**
	 * Return locks as stored on the server, including those that are available. The
	 * documents of those are kept for the configured retention, so there can be very
	 * many.
	 * @param after the full name after which the list begins, such as that of the last
	 * lock of the page before; an empty text for the first page
	 * @param limit the largest number of locks, at most {@value LockPage#LARGEST}
	 * @return the locks whose names begin with the configured prefix, by name
	 * @throws IllegalArgumentException if the limit is not positive or too large
	 * @see #list(String, int)
	 */
	LockPage listAll(String after, int limit);

	/**
	 * Release a lock by force, for operators. The lock becomes available to others when
	 * the current lease ends, so that no other holder overlaps with the current one.
	 * <p>
	 * The holder loses the lock when it is notified. If its lease is renewed
	 * automatically, it is notified at the next renewal: a third of a lease after the
	 * last one, or, after {@link LockHandle#extend}, once two thirds of a lease remain of
	 * the extension. If its lease is not (or no longer) renewed, it is notified when it
	 * calls renew or extend, when it releases the lock, or when its lease ends.
	 * {@link LockHandle#isHeld()} and {@link LockHandle#ensureHeld()} send no request to
	 * the server as long as the lease is proven.
	 * @param name the name of the lock, or of one of its permits, such as
	 * {@code export (permit 2)}; the name of the lock is that of the first permit
	 * @return whether it had a holder
	 */
	boolean forceRelease(String name);

	/**
	 * Release a lock by force and make it available immediately, for operators. This
	 * gives up mutual exclusion: the holder is notified as after
	 * {@link #forceRelease(String)} and no sooner. A holder whose lease is not renewed,
	 * or was extended, may continue until its lease ends, without knowing that the lock
	 * already has another holder. Only the commit of a fenced transaction is refused as
	 * soon as the lock has another holder. Use this only if the holder is known to be
	 * gone.
	 * @param name the name of the lock, or of one of its permits, such as
	 * {@code export (permit 2)}; the name of the lock is that of the first permit
	 * @return whether it had a holder or was still unavailable
	 */
	boolean forceReleaseNow(String name);

	private static LockedAction<Boolean> inOrder(LockedTask... tasks) {
		if (tasks.length == 0) {
			throw new IllegalArgumentException("There is no work to run under the lock. Pass a lambda");
		}
		return () -> {
			for (LockedTask task : tasks) {
				task.run();
			}
			return true;
		};
	}

}
