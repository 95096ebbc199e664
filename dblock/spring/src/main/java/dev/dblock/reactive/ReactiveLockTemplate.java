package dev.dblock.reactive;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockedAction;
import dev.dblock.LockedFallback;
import dev.dblock.WhenLost;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.execution.Hold;
import dev.dblock.execution.SeveralLocks;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.ContextView;

import org.springframework.transaction.reactive.TransactionContext;

/**
 * Programmatic locking for Reactor sequences:
 *
 * <pre class="code">
 * reactiveLocks.execute("stock", () -&gt; reserve(item))
 *     .onErrorResume(LockUnavailableException.class, (ex) -&gt; later(item));
 * </pre>
 *
 * Each subscription acquires the lock for itself. It acquires the lock before it calls
 * the supplier of the sequence, in a thread that may block. The lock is released when the
 * sequence has terminated, and the subscriber is notified after that. The lock is also
 * released when the subscriber cancels. A cancellation during the wait leaves nothing
 * behind.
 * <p>
 * The sequence finds its lock in its context ({@link #current()}). If the context or the
 * subscribing thread already works under the same lock, the sequence shares that hold
 * (re-entry). The hold then ends with the last of the two, and lasts at least as long as
 * the sequence requires. A lock that was acquired by hand ({@link LockTemplate#within}),
 * or that a transaction of the subscribing thread keeps, ends with its owner. Inside a
 * reactive transaction, the lock is released when the transaction has ended, and the
 * commit depends on the lock.
 * <p>
 * If the lease is lost, the sequence ends with a {@link LockLostException}. With
 * {@link WhenLost#INTERRUPT}, the sequence is cancelled, and its subscriber notified, at
 * the moment of the loss.
 */
public final class ReactiveLockTemplate {

	private static final String DEFAULT_PURPOSE = "a reactive sequence";

	private final LockEngine engine;

	public ReactiveLockTemplate(LockEngine engine) {
		this.engine = engine;
	}

	/**
	 * Return a template for sequences under the locks of another template, such as those
	 * of {@link dev.dblock.LockTemplates#on another database}.
	 * @param template the template of the locks
	 * @return the template for sequences
	 * @throws IllegalArgumentException if the template is not one of dblock's, such as a
	 * mock
	 */
	public static ReactiveLockTemplate of(LockTemplate template) {
		return new ReactiveLockTemplate(DefaultLockTemplate.of(template).engine());
	}

	/**
	 * Return the innermost lock under which a sequence works.
	 * @return its handle, or empty outside of any lock
	 */
	public static Mono<LockHandle> current() {
		return Mono.deferContextual((context) -> Mono.justOrEmpty(current(context)));
	}

	/**
	 * Return the innermost lock under which a sequence works.
	 * @param context the context of the sequence
	 * @return its handle, or empty outside of any lock
	 */
	public static Optional<LockHandle> current(ContextView context) {
		ReactiveScope scope = ReactiveScope.of(context);
		return (scope != null) ? Optional.of(scope.hold().handle()) : Optional.empty();
	}

	/**
	 * Return all locks under which a sequence works.
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
	 * Execute a sequence under a lock, and wait for the lock as configured.
	 * @param name the name of the lock
	 * @param work supplies the sequence, once for each subscription
	 * @param <T> the type of its result
	 * @return the sequence under its lock
	 */
	public <T> Mono<T> execute(String name, LockedAction<? extends Mono<T>> work) {
		return execute(name, LockOptions.defaults(), work, (refusal) -> Mono.error(refusal.toException()));
	}

	/**
	 * Execute a sequence under a lock, or a fallback without the lock if it is not
	 * available within the wait.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param work supplies the sequence, once for each subscription
	 * @param fallback supplies the sequence to use if the lock is not available
	 * @param <T> the type of the result
	 * @return the sequence under its lock
	 */
	public <T> Mono<T> execute(String name, LockOptions options, LockedAction<? extends Publisher<T>> work,
			LockedFallback<? extends Publisher<T>> fallback) {
		Publisher<T> locked = (subscriber) -> new LockedSubscription<T>(request(name, options),
				Operators.toCoreSubscriber(subscriber), true, work, fallback)
			.begin();
		return Mono.fromDirect(locked);
	}

	/**
	 * Execute a sequence with many results under a lock, and wait for the lock as
	 * configured. The lock is held from the subscription on, however slowly the results
	 * are requested.
	 * @param name the name of the lock
	 * @param work supplies the sequence, once for each subscription
	 * @param <T> the type of its results
	 * @return the sequence under its lock
	 */
	public <T> Flux<T> executeMany(String name, LockedAction<? extends Flux<T>> work) {
		return executeMany(name, LockOptions.defaults(), work, (refusal) -> Flux.error(refusal.toException()));
	}

	/**
	 * Execute a sequence with many results under a lock, or a fallback without the lock
	 * if it is not available within the wait.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param work supplies the sequence, once for each subscription
	 * @param fallback supplies the sequence to use if the lock is not available
	 * @param <T> the type of the results
	 * @return the sequence under its lock
	 */
	public <T> Flux<T> executeMany(String name, LockOptions options, LockedAction<? extends Publisher<T>> work,
			LockedFallback<? extends Publisher<T>> fallback) {
		Publisher<T> locked = (subscriber) -> new LockedSubscription<T>(request(name, options),
				Operators.toCoreSubscriber(subscriber), false, work, fallback)
			.begin();
		return Flux.from(locked);
	}

	/**
	 * Set a default purpose, since the stack of the acquiring thread does not show the
	 * caller.
	 */
	private LockRequest request(String name, LockOptions options) {
		return new LockRequest(this.engine, name, (options.why() != null) ? options : options.why(DEFAULT_PURPOSE));
	}

	/**
	 * The request of a subscription for its lock.
	 */
	record LockRequest(LockEngine engine, String name, LockOptions options) {

		/**
		 * Return the request of a sequence in this context, with the full names of the
		 * subscribing thread.
		 */
		LockRequest in(ContextView context) {
			LockEngine resolved = (this.engine instanceof SeveralLocks several) ? several.in(around(context))
					: this.engine.resolved(Collections.singleton(this.name));
			return new LockRequest(resolved, this.name, this.options);
		}

		private static BiFunction<LockEngine, String, @Nullable Hold> around(ContextView context) {
			ReactiveScope scope = ReactiveScope.of(context);
			TransactionContext transaction = ReactiveScope.transaction(context);
			return (engine, fullName) -> {
				Hold hold = ReactiveScope.find(scope, engine, fullName);
				return (hold != null) ? hold : ReactiveScope.kept(engine, fullName, transaction);
			};
		}

		/**
		 * Return the hold under which the subscription is already made, shared with the
		 * sequence if possible.
		 */
		@Nullable Hold joined(ContextView context) {
			if (this.engine instanceof SeveralLocks) {
				return null;
			}
			String fullName = this.engine.fullName(this.name);
			Hold found = ReactiveScope.find(ReactiveScope.of(context), this.engine, fullName);
			Hold joined = (found != null) ? found.shared() : null;
			return (joined != null) ? joined
					: ReactiveScope.kept(this.engine, fullName, ReactiveScope.transaction(context));
		}

		/**
		 * Begin work under a lock that is already held.
		 * @return ends the re-entry
		 */
		Runnable reenter(Hold hold) {
			return hold.reenter(this.name, this.options);
		}

		/**
		 * Make the transaction of a sequence keep the lock.
		 * @return lets the transaction continue without the lock
		 */
		Runnable joinTransaction(ContextView context, Hold hold) {
			TransactionContext transaction = ReactiveScope.transaction(context);
			return (transaction != null)
					? ReactiveTransactions.keep(transaction, hold.parts().stream().map(Hold::handle).toList()) : () -> {
					};
		}

		@Nullable WhenLost whenLost() {
			return this.engine.complete(this.name, this.options).whenLost();
		}

	}

}
