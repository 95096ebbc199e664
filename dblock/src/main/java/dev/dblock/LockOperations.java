package dev.dblock;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

/**
 * Programmatic locking. Implemented by {@link LockTemplate}; inject this interface where
 * a test replaces it. {@code executeAsync}, {@code within}, {@code forAll} and
 * {@code engine} exist only on {@code LockTemplate}.
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
	 * under the same lock already, the work is done at once (re-entry). The lease then
	 * lasts at least as long as this call asks for, counted from its beginning, and is
	 * renewed until its end if it asks for that; the server is asked only where the lease
	 * would be shorter otherwise. After the maximum hold of the outermost call the lease
	 * gets no longer.
	 * <p>
	 * The lock is released when the action returns, so its result must not stand for work
	 * that goes on, or only begins, afterwards: a future that has not completed, a
	 * publisher, a stream, an iterator, a {@code Callable}, also as the only content of
	 * an {@code Optional} or a response. Such a result is refused, when the action has
	 * run and under whatever type it was declared; the lock is released. Use
	 * {@link LockTemplate#executeAsync} or {@link ReactiveLockTemplate} instead, or
	 * inside: what is begun by them under the same lock keeps it to its own end. The
	 * result of re-entered work is left to the call that acquired the lock, and that of a
	 * fallback, which has no lock, is not checked.
	 * @param name the name of the lock
	 * @param action the work
	 * @param <T> the type of its result
	 * @param <E> what it may throw
	 * @return the result of the work
	 * @throws LockUnavailableException when the lock is not available within the wait;
	 * the work was not started
	 * @throws LockLostException when the lease was lost before the end of the work; what
	 * the work threw itself is among the suppressed exceptions
	 * @throws IllegalStateException when the work goes on after its result was returned
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
	 * lock, or threads of this process wait for it and let those of others have it first
	 */
	default Optional<LockHandle> tryAcquire(String name) {
		return tryAcquire(name, LockOptions.defaults());
	}

	/**
	 * Acquire a lock, waiting for it if the options have a wait. Without one in them,
	 * asks once, even if a wait is configured. What operators set for this name
	 * ({@code dblock.locks}) comes before a wait of the options. Never re-enters.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it; except for the wait, they default to
	 * {@code dblock.*}
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
	 * Do something under several locks, see {@link #executeAll(Map, LockedAction)}.
	 * @param names the names of the locks, in any order; one that is there twice counts
	 * once
	 * @param action the work
	 * @param <T> the type of its result
	 * @param <E> what it may throw
	 * @return the result of the work
	 * @throws LockUnavailableException when one of the locks is not available within the
	 * wait
	 * @throws LockLostException when one of the leases was lost before the end of the
	 * work
	 * @throws E what the work throws
	 */
	default <T extends @Nullable Object, E extends Throwable> T executeAll(Collection<String> names,
			LockedAction<T, E> action) throws E {
		return executeAll(names, LockOptions.defaults(), action);
	}

	/**
	 * Do something under several locks, see {@link #executeAll(Map, LockedAction)}.
	 * @param names the names of the locks, in any order; one that is there twice counts
	 * once
	 * @param options how to acquire and hold each of them
	 * @param action the work
	 * @param <T> the type of its result
	 * @param <E> what it may throw
	 * @return the result of the work
	 * @throws LockUnavailableException when one of the locks is not available within the
	 * wait
	 * @throws LockLostException when one of the leases was lost before the end of the
	 * work
	 * @throws E what the work throws
	 */
	default <T extends @Nullable Object, E extends Throwable> T executeAll(Collection<String> names,
			LockOptions options, LockedAction<T, E> action) throws E {
		return executeAll(LockOptions.forEach(names, options), action);
	}

	/**
	 * Do something without a result under several locks, see
	 * {@link #executeAll(Map, LockedAction)}.
	 * @param names the names of the locks, in any order; one that is there twice counts
	 * once
	 * @param task the work
	 * @param <E> what it may throw
	 * @throws LockUnavailableException when one of the locks is not available within the
	 * wait
	 * @throws LockLostException when one of the leases was lost before the end of the
	 * work
	 * @throws E what the work throws
	 */
	default <E extends Throwable> void executeAll(Collection<String> names, LockedTask<E> task) throws E {
		executeAll(names, LockOptions.defaults(), task);
	}

	/**
	 * Do something without a result under several locks, see
	 * {@link #executeAll(Map, LockedAction)}.
	 * @param names the names of the locks, in any order; one that is there twice counts
	 * once
	 * @param options how to acquire and hold each of them
	 * @param task the work
	 * @param <E> what it may throw
	 * @throws LockUnavailableException when one of the locks is not available within the
	 * wait
	 * @throws LockLostException when one of the leases was lost before the end of the
	 * work
	 * @throws E what the work throws
	 */
	default <E extends Throwable> void executeAll(Collection<String> names, LockOptions options, LockedTask<E> task)
			throws E {
		LockedAction<LockedTask<E>, E> action = () -> {
			task.run();
			return task;
		};
		executeAll(names, options, action);
	}

	/**
	 * Do something under several locks, all or none. They are acquired as
	 * {@link #acquireAll(Map)} does, and given back at the end, the last one first.
	 * {@link LockContext#current(String)} finds each of them.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @param action the work
	 * @param <T> the type of its result
	 * @param <E> what it may throw
	 * @return the result of the work
	 * @throws LockUnavailableException when one of the locks is not available within its
	 * wait; the work was not started, and none of them is held
	 * @throws LockLostException when one of the leases was lost before the end of the
	 * work; what the work threw itself is among the suppressed exceptions
	 * @throws E what the work throws
	 */
	default <T extends @Nullable Object, E extends Throwable> T executeAll(Map<String, LockOptions> locks,
			LockedAction<T, E> action) throws E {
		return executeAll(locks, action, (refusal) -> {
			throw refusal.toException();
		});
	}

	/**
	 * Do something without a result under several locks, see
	 * {@link #executeAll(Map, LockedAction)}.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @param task the work
	 * @param <E> what it may throw
	 * @throws LockUnavailableException when one of the locks is not available within its
	 * wait
	 * @throws LockLostException when one of the leases was lost before the end of the
	 * work
	 * @throws E what the work throws
	 */
	default <E extends Throwable> void executeAll(Map<String, LockOptions> locks, LockedTask<E> task) throws E {
		LockedAction<LockedTask<E>, E> action = () -> {
			task.run();
			return task;
		};
		executeAll(locks, action);
	}

	/**
	 * Do something under several locks, or something else without them when one of them
	 * is not available within its wait, see {@link #executeAll(Map, LockedAction)}.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @param action the work
	 * @param fallback what to do when one of the locks, which the refusal names, is not
	 * available
	 * @param <T> the type of the result
	 * @param <E> what both may throw
	 * @return the result of the one that was done
	 * @throws LockLostException when one of the leases was lost before the end of the
	 * work
	 * @throws E what the work or the fallback throws
	 */
	<T extends @Nullable Object, E extends Throwable> T executeAll(Map<String, LockOptions> locks,
			LockedAction<T, E> action, LockedFallback<T, E> fallback) throws E;

	/**
	 * Acquire several locks now, or none of them, see {@link #acquireAll(Map)}.
	 * @param names the names of the locks, in any order; one that is there twice counts
	 * once
	 * @return the handles, to be released by the caller, or empty when somebody holds one
	 * of the locks
	 */
	default Optional<LockHandles> tryAcquireAll(String... names) {
		return tryAcquireAll(Arrays.asList(names), LockOptions.defaults());
	}

	/**
	 * Acquire several locks, or none of them, waiting if the options have a wait. Without
	 * one in them, asks once, even if a wait is configured. What operators set for a name
	 * ({@code dblock.locks}) comes before a wait of the options. See
	 * {@link #acquireAll(Map)}.
	 * @param names the names of the locks, in any order; one that is there twice counts
	 * once
	 * @param options how to acquire and hold each of them
	 * @return the handles, to be released by the caller, or empty when one of the locks
	 * did not become available
	 */
	default Optional<LockHandles> tryAcquireAll(Collection<String> names, LockOptions options) {
		return tryAcquireAll(LockOptions.forEach(names, options));
	}

	/**
	 * Acquire several locks, or none of them, waiting for those whose options have a
	 * wait. A lock without one in its options is asked for once, even if a wait is
	 * configured. What operators set for a name ({@code dblock.locks}) comes before a
	 * wait of the options. See {@link #acquireAll(Map)}.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @return the handles, to be released by the caller, or empty when one of the locks
	 * did not become available
	 */
	Optional<LockHandles> tryAcquireAll(Map<String, LockOptions> locks);

	/**
	 * Acquire several locks, or none of them, waiting as configured, see
	 * {@link #acquireAll(Map)}.
	 * @param names the names of the locks, in any order; one that is there twice counts
	 * once
	 * @return the handles, to be released by the caller
	 * @throws LockUnavailableException when one of the locks is not available within the
	 * wait; none of them is held then
	 */
	default LockHandles acquireAll(String... names) {
		return acquireAll(Arrays.asList(names), LockOptions.defaults());
	}

	/**
	 * Acquire several locks, or none of them, see {@link #acquireAll(Map)}.
	 * @param names the names of the locks, in any order; one that is there twice counts
	 * once
	 * @param options how to acquire and hold each of them
	 * @return the handles, to be released by the caller
	 * @throws LockUnavailableException when one of the locks is not available within the
	 * wait; none of them is held then
	 */
	default LockHandles acquireAll(Collection<String> names, LockOptions options) {
		return acquireAll(LockOptions.forEach(names, options));
	}

	/**
	 * Acquire several locks, or none of them.
	 * <p>
	 * Whatever order they are named in, they are acquired in the order of their names, so
	 * that threads which do this cannot wait for each other in a circle. A lock under
	 * which this thread works already (by {@code execute}, by an annotation, or by
	 * {@link #asLock}) is re-entered; one that it holds by hand is not, and would be
	 * waited for in vain. Since a lock that is re-entered cannot be taken in its turn,
	 * those of the others whose names come before it are asked for once and not waited
	 * for. (Locks that are nested in one another without being named together are taken
	 * in the order in which they are nested, and two threads that nest them the other way
	 * round wait for each other until the wait of one of them is over.)
	 * <p>
	 * The wait of each lock counts from the beginning of this call: several locks are not
	 * waited for longer than one. While some are waited for, those that are held already
	 * are renewed, whatever their options say. When one is refused, when something fails,
	 * or when the thread is interrupted, those that are held already are given back, even
	 * inside a transaction or a minimum hold.
	 * <p>
	 * Transactions under the locks are fenced by each of them.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @return the handles, to be released by the caller
	 * @throws LockUnavailableException when one of the locks is not available within its
	 * wait; none of them is held then
	 * @throws LockLostException when one of the locks was lost while another was waited
	 * for, or one that was to be re-entered is not held any more
	 * @throws IllegalArgumentException when no lock is named
	 */
	LockHandles acquireAll(Map<String, LockOptions> locks);

	/**
	 * A lock as the class library has it, see {@link #asLock(String, LockOptions)}.
	 * @param name the name of the lock
	 * @return the lock
	 */
	default Lock asLock(String name) {
		return asLock(name, LockOptions.defaults());
	}

	/**
	 * A lock as the class library has it, for code that takes a {@link Lock}:
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
	 * Any two of one name are the same lock. They have no state outside of the threads
	 * that have locked them, so they can be kept, or made anew for each use.
	 * <p>
	 * <b>What a lease means here.</b> A {@code Lock} of the class library is held until
	 * it is unlocked, since it dies with its process. This one has to outlive the death
	 * of its holder, so the server gives it out for a time, the lease. The lease is
	 * renewed in the background for as long as the lock is locked, and after the death of
	 * the process it ends by itself. But it ends as well when the server cannot be
	 * reached for as long as it lasts, when the process is paused for that long, or when
	 * an operator takes the lock away. Then another may have locked it although this
	 * thread has not unlocked it. A {@code Lock} has no way to say so at once, so it is
	 * said at the next of its methods:
	 * <ul>
	 * <li>{@code unlock()} throws a {@link java.util.ConcurrentModificationException},
	 * with the {@link LockLostException} as its cause: the work was done, and somebody
	 * else may have done the same meanwhile. The lock counts as unlocked.</li>
	 * <li>To lock once more in the thread that has locked it already looks at the lease:
	 * {@code tryLock} gives {@code false}, and {@code lock} and {@code lockInterruptibly}
	 * throw {@code LockLostException}. The thread is told so once. After that it can lock
	 * anew as if it had never had the lock, while each unlock of what it had lost ends in
	 * the exception above, after those of what it has locked since.</li>
	 * </ul>
	 * Work that must not go on without the lock asks its handle
	 * ({@code LockContext.current(fullName)}), which also has the fencing token, or is
	 * told in its thread ({@link WhenLost#INTERRUPT}), by an event, or by its
	 * transaction, which is not committed.
	 * <p>
	 * <b>Who may do what.</b> The thread that locks has to unlock; in any other,
	 * {@code unlock()} throws {@link IllegalMonitorStateException}. In the thread that
	 * has locked it, the lock can be locked again (re-entry, which can lengthen the lease
	 * as {@link #execute(String, LockedAction)} says, and then throws what that throws
	 * where the server cannot be asked), also by {@link #execute} and by annotated
	 * methods, and the other way round; it is released at the outermost end. A handle
	 * that the thread has acquired by hand is not re-entered (unless it works
	 * {@link LockTemplate#within within} it): as long as it is held, {@code tryLock}
	 * gives {@code false}, and {@code lock} and {@code lockInterruptibly} throw
	 * {@link IllegalStateException} at once, since they would wait for the thread itself.
	 * A thread that ends without unlocking leaves the lock to the end of its lease, which
	 * is no longer renewed once the garbage collector has found that out. Unlocked inside
	 * a transaction, the lock is released at the end of that.
	 * <p>
	 * <b>How long it waits.</b> {@code lock} and {@code lockInterruptibly} wait until
	 * they get it, whatever the options say, and go on asking while the server cannot be
	 * reached; {@code tryLock()} asks once; {@code tryLock(time, unit)} waits for that
	 * time. {@code lock()} and {@code tryLock()} are not interrupted, the other two are.
	 * There are no conditions. What all methods of this interface throw is thrown here
	 * too: Spring's {@link org.springframework.dao.DataAccessException} by
	 * {@code tryLock} where the server cannot be asked, and {@link LockShutdownException}
	 * once the application closes. At {@code unlock()} a server that cannot be told is
	 * only logged, and the lease ends the lock.
	 * @param name the name of the lock
	 * @param options how to hold it
	 * @return the lock
	 * @throws IllegalArgumentException when the options cannot be
	 */
	Lock asLock(String name, LockOptions options);

	/**
	 * Look at one lock as the server has it. Of a lock that is handed on between threads
	 * of one process, the server knows the first of them: only that process itself is
	 * told, by this method, of the thread that has it.
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
	 * Take a lock away from its holder, for operators. The name becomes free for others
	 * when the present lease ends, so that nobody overlaps the holder.
	 * <p>
	 * The holder loses the lock when it is told. One that is renewed automatically is
	 * told at its next renewal: a third of a lease after the last one, or, after
	 * {@link LockHandle#extend}, once two thirds of a lease are left of the extension.
	 * One that is not (any more) is told when it renews or extends by itself, when it
	 * releases the lock, or at the end of its lease. {@link LockHandle#isHeld()} and
	 * {@link LockHandle#ensureHeld()} ask no server as long as the lease is proven.
	 * @param name the name of the lock
	 * @return whether it had a holder
	 */
	boolean forceRelease(String name);

	/**
	 * Take a lock away from its holder and free its name at once, for operators. This
	 * gives up exclusion: the holder is told as after {@link #forceRelease(String)} and
	 * no sooner, so one that is not renewed, or has extended its lease, may go on to the
	 * end of its lease and not know that another holds the lock already. Only the commit
	 * of a fenced transaction is refused as soon as another has it. Only for a holder
	 * that is known to be gone.
	 * @param name the name of the lock
	 * @return whether it had a holder or was still taken
	 */
	boolean forceReleaseNow(String name);

}
