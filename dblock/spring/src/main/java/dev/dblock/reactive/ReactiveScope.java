package dev.dblock.reactive;

import java.util.Objects;
import java.util.Optional;

import dev.dblock.engine.LockEngine;
import dev.dblock.execution.Hold;
import dev.dblock.execution.WorkScope;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionContextManager;

/**
 * The part of a sequence that one lock covers, as stored in its context.
 *
 * @param hold the lock
 * @param outer the lock around it
 */
record ReactiveScope(Hold hold, @Nullable ReactiveScope outer) {

	static @Nullable ReactiveScope of(ContextView context) {
		return context.getOrDefault(ReactiveScope.class, null);
	}

	/**
	 * Return the reactive transaction of a sequence.
	 */
	static @Nullable TransactionContext transaction(ContextView context) {
		return TransactionContextManager.currentContext()
			.onErrorComplete(NoTransactionException.class)
			.contextWrite(context)
			.toFuture()
			.getNow(null);
	}

	static Context enter(Context context, Hold hold) {
		ReactiveScope scope = of(context);
		for (Hold part : hold.parts()) {
			scope = new ReactiveScope(part, scope);
		}
		return context.put(ReactiveScope.class, Objects.requireNonNull(scope));
	}

	/**
	 * Return the lock with the given name under which a sequence is subscribed to: that
	 * of its context, or else of the subscribing thread. Locks that the thread has locked
	 * by hand are excluded, since their unlock would end them while the sequence still
	 * runs.
	 */
	static @Nullable Hold find(@Nullable ReactiveScope innermost, LockEngine engine, String fullName) {
		for (ReactiveScope scope = innermost; scope != null; scope = scope.outer) {
			if (scope.hold.engine().id() == engine.id() && scope.hold.handle().name().equals(fullName)) {
				return scope.hold;
			}
		}
		return WorkScope.find(engine, fullName);
	}

	/**
	 * Return the lock with the given name that is kept by a transaction of the sequence:
	 * the blocking one of the subscribing thread, or the reactive one.
	 */
	static @Nullable Hold kept(LockEngine engine, String fullName, @Nullable TransactionContext transaction) {
		return engine.keptByTransaction(fullName)
			.or(() -> (transaction != null) ? ReactiveTransactions.kept(transaction, engine.id(), fullName)
					: Optional.empty())
			.map((handle) -> Hold.borrowed(engine, handle))
			.orElse(null);
	}

}
