package dev.dblock;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.ContextView;

import org.springframework.transaction.reactive.TransactionContext;

/**
 * Reactor sequences under locks, for code that decides by hand what to lock:
 *
 * <pre class="code">
 * reactiveLocks.execute("stock", () -&gt; reserve(item))
 *     .onErrorResume(LockUnavailableException.class, (ex) -&gt; later(item));
 * </pre>
 *
 * Each subscription is on its own. It acquires the lock before it asks the supplier for
 * the sequence, in a thread that may wait for it; the lock is released when the sequence
 * has terminated, and the subscriber is told after that, or when it cancels. Cancelled
 * while it waits, it leaves nothing behind. The sequence finds its lock in its context
 * ({@link #current()}); under the same lock already, be it by its context or by the
 * subscribing thread, it shares that hold, which then ends with the last of the two and
 * lasts at least as long as the sequence asks for (re-entry); a lock that was taken by
 * hand ({@link LockTemplate#within}), or that a transaction of the subscribing thread
 * keeps, ends with its owner. Inside a reactive transaction the lock is released when
 * that has ended, and its commit depends on the lock.
 * <p>
 * A lost lease shows as a {@link LockLostException} in place of the end of the sequence.
 * With {@link WhenLost#INTERRUPT} the sequence is cancelled, and its subscriber told, at
 * the moment of the loss.
 */
public final class ReactiveLockTemplate {

	private static final String UNTOLD = "a reactive sequence";

	private final LockEngine engine;

	public ReactiveLockTemplate(LockEngine engine) {
		this.engine = engine;
	}

	/**
	 * The innermost lock under which a sequence works.
	 * @return its handle, or empty outside of any lock
	 */
	public static Mono<LockHandle> current() {
		return Mono.deferContextual((context) -> Mono.justOrEmpty(current(context)));
	}

	/**
	 * The innermost lock under which a sequence works.
	 * @param context the context of the sequence
	 * @return its handle, or empty outside of any lock
	 */
	public static Optional<LockHandle> current(ContextView context) {
		ReactiveScope scope = ReactiveScope.of(context);
		return (scope != null) ? Optional.of(scope.hold().handle()) : Optional.empty();
	}

	/**
	 * All locks under which a sequence works.
	 * @param context the context of the sequence
	 * @return their handles, the innermost first
	 */
	public static List<LockHandle> all(ContextView context) {
		List<LockHandle> handles = new ArrayList<>();
		for (ReactiveScope scope = ReactiveScope.of(context); scope != null; scope = scope.outer()) {
			handles.add(scope.hold().handle());
		}
		return handles;
	}

	/**
	 * Do something under a lock, waiting for it as configured.
	 * @param name the name of the lock
	 * @param work makes the work, once for each subscription
	 * @param <T> the type of its result
	 * @return the work under its lock
	 */
	public <T> Mono<T> execute(String name, LockedAction<? extends Mono<T>, Exception> work) {
		return execute(name, LockOptions.defaults(), work, (refusal) -> Mono.error(refusal.toException()));
	}

	/**
	 * Do something under a lock, or something else without it when it is not available
	 * within the wait.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param work makes the work, once for each subscription
	 * @param fallback makes what is done when the lock is not available
	 * @param <T> the type of the result
	 * @return the work under its lock
	 */
	public <T> Mono<T> execute(String name, LockOptions options, LockedAction<? extends Publisher<T>, ?> work,
			LockedFallback<? extends Publisher<T>, ?> fallback) {
		Publisher<T> locked = (subscriber) -> new LockedSubscription<T>(request(name, options),
				Operators.toCoreSubscriber(subscriber), true, work, fallback)
			.begin();
		return Mono.fromDirect(locked);
	}

	/**
	 * Do something that has many results under a lock, waiting for it as configured. The
	 * lock is held from the subscription on, however slowly the results are asked for.
	 * @param name the name of the lock
	 * @param work makes the work, once for each subscription
	 * @param <T> the type of its results
	 * @return the work under its lock
	 */
	public <T> Flux<T> executeMany(String name, LockedAction<? extends Flux<T>, Exception> work) {
		return executeMany(name, LockOptions.defaults(), work, (refusal) -> Flux.error(refusal.toException()));
	}

	/**
	 * Do something that has many results under a lock, or something else without it when
	 * it is not available within the wait.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param work makes the work, once for each subscription
	 * @param fallback makes what is done when the lock is not available
	 * @param <T> the type of the results
	 * @return the work under its lock
	 */
	public <T> Flux<T> executeMany(String name, LockOptions options, LockedAction<? extends Publisher<T>, ?> work,
			LockedFallback<? extends Publisher<T>, ?> fallback) {
		Publisher<T> locked = (subscriber) -> new LockedSubscription<T>(request(name, options),
				Operators.toCoreSubscriber(subscriber), false, work, fallback)
			.begin();
		return Flux.from(locked);
	}

	/**
	 * The stack of the thread that acquires the lock does not tell for whom.
	 */
	private LockRequest request(String name, LockOptions options) {
		return new LockRequest(this.engine, name, (options.why() != null) ? options : options.why(UNTOLD));
	}

	/**
	 * What a subscription asks for.
	 */
	record LockRequest(LockEngine engine, String name, LockOptions options) {

		/**
		 * What a sequence in this context asks for.
		 */
		LockRequest in(ContextView context) {
			return (this.engine instanceof SeveralEngine several)
					? new LockRequest(several.in(ReactiveScope.of(context), ReactiveScope.transaction(context)),
							this.name, this.options)
					: this;
		}

		/**
		 * The hold under which a sequence is subscribed to already, kept for it where
		 * that can be.
		 */
		@Nullable Hold joined(ContextView context) {
			if (this.engine instanceof SeveralEngine) {
				return null;
			}
			String fullName = this.engine.fullName(this.name);
			Hold found = ReactiveScope.find(ReactiveScope.of(context), this.engine, fullName);
			Hold joined = (found != null) ? found.shared() : null;
			return (joined != null) ? joined
					: ReactiveScope.kept(this.engine, fullName, ReactiveScope.transaction(context));
		}

		/**
		 * Begin work under a lock that is held already.
		 * @return ends what this has begun
		 */
		Runnable reenter(LockHandle handle) {
			return this.engine.reenter(handle, this.name, this.options);
		}

		/**
		 * Have the transaction that a sequence is a part of keep the lock.
		 * @return has it go on without the lock
		 */
		Runnable joinTransaction(ContextView context, LockHandle handle) {
			TransactionContext transaction = ReactiveScope.transaction(context);
			return (transaction != null) ? this.engine.joinTransaction(handle, transaction) : () -> {
			};
		}

		WhenLost whenLost() {
			return this.engine.whenLost(this.name, this.options);
		}

	}

}
