package dev.dblock;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * The bean for programmatic locking:
 *
 * <pre class="code">
 * lockTemplate.execute("stock", () -&gt; reserve(item));
 *
 * try (LockHandle lock = lockTemplate.acquire("stock", LockOptions.lease(ofSeconds(20)).waitUpTo(ofSeconds(5)))) {
 *     repository.save(order, lock.token());
 *     lock.ensureHeld();
 * }
 * </pre>
 *
 * Thread-safe. Not to be implemented by applications, except in tests.
 */
public interface LockTemplate extends LockOperations {

	/**
	 * Execute asynchronous work under a lock. The lock is held until the stage that the
	 * action returns has completed. The action itself runs in this thread, which waits
	 * for the lock as configured. If this thread already works under the same lock, the
	 * work shares that hold, which then ends with the last of the two.
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
	 * @param <E> the type of exception that both can throw before there is a stage
	 * @return the result of the action or of the fallback; if acquiring the lock fails, a
	 * stage that is completed with that exception
	 * @throws IllegalArgumentException if the name or the options are invalid
	 * @throws E if the action or the fallback fails before there is a stage
	 */
	<T extends @Nullable Object, E extends Throwable> @Nullable CompletionStage<T> executeAsync(String name,
			LockOptions options, LockedAction<? extends @Nullable CompletionStage<T>, E> action,
			LockedFallback<? extends @Nullable CompletionStage<T>, E> fallback) throws E;

	/**
	 * Execute an action in this thread under a lock that was acquired by hand, in this
	 * thread or another. {@link LockContext#current()} then returns this lock,
	 * {@link #execute} re-enters it, and transactions that begin meanwhile depend on it.
	 * The lock is neither acquired nor released.
	 * @param handle a handle of this template
	 * @param action the work
	 * @param <T> the type of its result
	 * @param <E> the type of exception that it can throw
	 * @return the result of the work
	 * @throws LockLostException if the lock is no longer held when the work is about to
	 * begin, or when it has ended; an exception of the work is among the suppressed
	 * exceptions
	 * @throws E if the work fails
	 */
	<T extends @Nullable Object, E extends Throwable> T within(LockHandle handle, LockedAction<T, E> action) throws E;

	/**
	 * Return a template for the locks of one call, all or none. Each of its calls runs
	 * under all of these locks, regardless of the name that is passed, as
	 * {@link #executeAll} does.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @return the template
	 * @throws IllegalArgumentException if no lock is named
	 */
	LockTemplate forAll(Map<String, LockOptions> locks);

}
