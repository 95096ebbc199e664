package dev.dblock.reactive;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import dev.dblock.LockHandle;
import dev.dblock.store.TransactionFence;
import dev.dblock.support.CallThreads;
import dev.dblock.transaction.OpenTransaction;
import dev.dblock.transaction.TransactionLock;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.ReactiveTransaction;
import org.springframework.transaction.reactive.TransactionCallback;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;

/**
 * Reactive transactions, and the locks of the sequences that they are a part of.
 * <p>
 * A transaction runs under the surrounding locks that it has joined, and under those that
 * are acquired inside it. Right before the commit, each of them must still be held. If a
 * lock is kept in the store that the transaction writes to, the {@link TransactionFence}
 * is written into the transaction. Until the transaction has ended, none of its locks is
 * released or handed over, even if the sequence is cancelled.
 */
public final class ReactiveTransactions {

	/**
	 * Runs requests to the store, which must not block an event loop. A shared pool could
	 * be full of tasks that wait for this very transaction.
	 */
	private static final Scheduler STORE = Schedulers
		.fromExecutor((task) -> CallThreads.execute(Schedulers.onSchedule(task)));

	private ReactiveTransactions() {
	}

	/**
	 * Join the subscriber's transaction to the locks that it runs under. Subscribe inside
	 * the transaction, before its work. Then a lock that is acquired as late as right
	 * before the commit counts too. Has no effect outside of transactions, or when
	 * repeated.
	 * @return completes when the work may begin
	 */
	public static Mono<Void> join() {
		return Mono.deferContextual((context) -> TransactionContextManager.currentContext()
			.flatMap((transaction) -> join(transaction, ReactiveLockTemplate.all(context)))
			.onErrorComplete(NoTransactionException.class));
	}

	/**
	 * Return an operator whose transactions join the locks that they run under. An
	 * operator that is a bean, and was created by Spring, does so already.
	 * @param operator begins and ends the transactions
	 * @return the operator to use in its place
	 */
	public static TransactionalOperator joining(TransactionalOperator operator) {
		return (operator instanceof JoiningOperator) ? operator : new JoiningOperator(operator);
	}

	private static Mono<Void> join(TransactionContext transaction, List<LockHandle> locks) {
		Joined joined = transaction.isActualTransactionActive() ? joined(transaction, true) : null;
		if (joined == null) {
			return Mono.empty();
		}
		Mono<Void> join = Mono.create((sink) -> {
			Runnable leave = keep(transaction, locks, STORE::schedule);
			// A transaction that ends because of this may not know of the locks
			sink.onCancel(() -> STORE.schedule(leave));
			sink.success();
		});
		return join.then(Mono.defer(joined::prepared));
	}

	/**
	 * Add locks that an open transaction runs under, which keeps them until its end.
	 * @return continues the transaction without the locks, if no work was done under them
	 * @throws IllegalStateException when the transaction ends at this moment, or is about
	 * to be committed
	 */
	public static Runnable keep(TransactionContext transaction, List<LockHandle> locks) {
		return keep(transaction, locks, Runnable::run);
	}

	private static Runnable keep(TransactionContext transaction, List<LockHandle> locks, Executor leaving) {
		List<Runnable> kept = new ArrayList<>();
		Runnable leave = () -> kept.forEach(Runnable::run);
		try {
			locks.forEach((lock) -> kept.add(keep(transaction, lock)));
		}
		catch (RuntimeException ex) {
			leaving.execute(leave);
			throw ex;
		}
		return leave;
	}

	private static Runnable keep(TransactionContext transaction, LockHandle lock) {
		if (lock instanceof TransactionLock handle && transaction.isActualTransactionActive()) {
			Joined joined = joined(transaction, true);
			if (joined != null) {
				joined.join(handle, transaction);
				return () -> joined.leave(handle);
			}
		}
		return () -> {
		};
	}

	/**
	 * Find a lock that a transaction still keeps although its handle was closed.
	 */
	public static Optional<LockHandle> kept(TransactionContext transaction, Object engine, String name) {
		Joined joined = joined(transaction, false);
		return (joined != null) ? Optional.ofNullable(joined.kept(engine, name)) : Optional.empty();
	}

	private static @Nullable Joined joined(TransactionContext transaction, boolean create) {
		synchronized (transaction) {
			Set<TransactionSynchronization> known = transaction.getSynchronizations();
			if (known == null) {
				return null;
			}
			for (TransactionSynchronization synchronization : known) {
				if (synchronization instanceof Joined joined) {
					return joined;
				}
			}
			if (!create) {
				return null;
			}
			Joined joined = new Joined(transaction);
			TransactionSynchronizationManager manager = new TransactionSynchronizationManager(transaction);
			manager.registerSynchronization(new FirstAfterCommit(joined));
			manager.registerSynchronization(joined);
			return joined;
		}
	}

	/**
	 * The locks of one transaction. This synchronization has no order, so it runs after
	 * all that have one and is the last to check before the commit.
	 */
	private static final class Joined implements TransactionSynchronization {

		/**
		 * A monitor would pin a virtual thread to its carrier during a request to the
		 * store.
		 */
		private final Lock lock = new ReentrantLock();

		private final OpenTransaction open;

		private final Map<Object, Object> resources;

		Joined(TransactionContext transaction) {
			this.resources = transaction.getResources();
			this.open = new OpenTransaction((handle) -> fence(handle, transaction),
					transaction.isCurrentTransactionReadOnly(), null);
		}

		/**
		 * Return the fence of a lock, unless an outer transaction writes it. Spring
		 * leaves the resources of a transaction in place while a transaction of another
		 * store is nested in it. Resources found there then belong to the outer
		 * transaction, which writes the fence right before its own commit.
		 */
		private @Nullable TransactionFence fence(TransactionLock handle, TransactionContext transaction) {
			TransactionFence fence = handle.store().fenceFor(transaction);
			return (fence != null && isOfOuter(handle, fence)) ? null : fence;
		}

		private boolean isOfOuter(TransactionLock handle, TransactionFence fence) {
			return this.resources.keySet()
				.stream()
				.anyMatch((key) -> key instanceof Joined outer && outer.open.isFencedBy(handle, fence));
		}

		@Override
		public Mono<Void> suspend() {
			return Mono.fromRunnable(() -> this.resources.put(this, this));
		}

		@Override
		public Mono<Void> resume() {
			return Mono.fromRunnable(() -> this.resources.remove(this));
		}

		void join(TransactionLock handle, TransactionContext transaction) {
			locked(() -> {
				if (this.open.isTooLateFor(handle)) {
					throw new IllegalStateException(
							("The lock '%s' was acquired too late: its transaction is about to be committed, and the"
									+ " other locks of the transaction were already checked. No work was done under"
									+ " it. Acquire it earlier: around the transaction, or in its work")
								.formatted(handle.name()));
				}
				this.open.join(handle);
				// A sequence can be cancelled at any time, in another thread
				Set<TransactionSynchronization> known = transaction.getSynchronizations();
				if (known == null || !known.contains(this)) {
					this.open.leave(handle);
					throw new IllegalStateException(("The transaction ended before the work under the lock '%s'"
							+ " began. No work was done; do not use the result of a cancelled sequence")
						.formatted(handle.name()));
				}
			});
		}

		void leave(TransactionLock handle) {
			locked(() -> this.open.leave(handle));
		}

		private void locked(Runnable action) {
			this.lock.lock();
			try {
				action.run();
			}
			finally {
				this.lock.unlock();
			}
		}

		Mono<Void> prepared() {
			return this.open.isPrepared() ? Mono.empty()
					: Mono.<Void>fromRunnable(this.open::prepare).subscribeOn(STORE);
		}

		@Nullable TransactionLock kept(Object engine, String name) {
			this.lock.lock();
			try {
				return this.open.kept(engine, name);
			}
			finally {
				this.lock.unlock();
			}
		}

		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			Mono<Void> check = Mono.fromRunnable(() -> locked(this.open::beforeCommit));
			return this.open.asksStoreBeforeCommit() ? check.subscribeOn(STORE) : check;
		}

		@Override
		public Mono<Void> afterCompletion(int status) {
			return Mono.defer(() -> {
				Mono<Void> end = Mono.fromRunnable(() -> locked(() -> ended(status)));
				return this.open.standsAlone() ? end : end.subscribeOn(STORE);
			});
		}

		private void ended(int status) {
			if (status == STATUS_COMMITTED) {
				this.open.committed(null);
			}
			else {
				this.open.endInDoubt();
			}
			// A transaction that began before its lock was acquired could not wait for
			// the preparation
			this.open.prepare();
		}

	}

	/**
	 * Ends a committed transaction before any other action that follows the commit. If
	 * such an action fails, Spring does not report the completion.
	 */
	private record FirstAfterCommit(Joined joined) implements TransactionSynchronization, PriorityOrdered {

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public Mono<Void> afterCommit() {
			return this.joined.afterCompletion(STATUS_COMMITTED);
		}

	}

	/**
	 * Joins each of its transactions to the surrounding locks.
	 */
	private record JoiningOperator(TransactionalOperator operator) implements TransactionalOperator {

		@Override
		public <T> Mono<T> transactional(Mono<T> mono) {
			return this.operator.transactional(join().then(mono));
		}

		@Override
		public <T> Flux<T> transactional(Flux<T> flux) {
			return this.operator.transactional(join().thenMany(flux));
		}

		@Override
		public <T> Flux<T> execute(TransactionCallback<T> action) {
			return this.operator.execute((transaction) -> join().thenMany(made(action, transaction)));
		}

		private static <T> Publisher<T> made(TransactionCallback<T> action, ReactiveTransaction transaction) {
			return Flux.defer(() -> action.doInTransaction(transaction));
		}

	}

}
