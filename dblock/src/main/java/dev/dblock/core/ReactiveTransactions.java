package dev.dblock.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import dev.dblock.LockHandle;
import dev.dblock.LockThreads;
import dev.dblock.ReactiveLockTemplate;
import dev.dblock.store.TransactionFence;
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
 * A transaction stands under the locks around it that it has joined, and under those that
 * are taken inside it. Right before its commit each of them must still be held; where a
 * lock is kept in the store that the transaction writes to, the {@link TransactionFence}
 * is written into it. Until it has ended, none of its locks is given back or handed over,
 * even if the sequence is cancelled.
 */
public final class ReactiveTransactions {

	/**
	 * For what asks the store and must not block an event loop. A pool that others use
	 * too could be full of those who wait for this very transaction.
	 */
	private static final Scheduler STORE = Schedulers
		.fromExecutor((task) -> LockThreads.execute(Schedulers.onSchedule(task)));

	private ReactiveTransactions() {
	}

	/**
	 * Have the transaction that the subscriber is in join the locks that it is under. To
	 * be subscribed to inside of the transaction, before its work; then a lock that is
	 * taken as late as before its commit counts too. Does nothing outside of
	 * transactions, and a second time.
	 * @return completes when the work may begin
	 */
	public static Mono<Void> join() {
		return Mono.deferContextual((context) -> TransactionContextManager.currentContext()
			.flatMap((transaction) -> join(transaction, ReactiveLockTemplate.all(context)))
			.onErrorComplete(NoTransactionException.class));
	}

	/**
	 * An operator whose transactions join the locks that they are under. One that is a
	 * bean, and of Spring's own making, does so already.
	 * @param operator what begins and ends the transactions
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
			List<Runnable> leave = new ArrayList<>();
			try {
				locks.forEach((lock) -> leave.add(keep(transaction, lock)));
			}
			catch (RuntimeException ex) {
				leave(leave);
				throw ex;
			}
			// A transaction that ends because of this may not know of the locks
			sink.onCancel(() -> leave(leave));
			sink.success();
		});
		return join.then(Mono.defer(joined::prepared));
	}

	private static void leave(List<Runnable> leave) {
		STORE.schedule(() -> leave.forEach(Runnable::run));
	}

	/**
	 * Have a transaction that is open stand under a lock, and keep it to its end.
	 * @return has it go on without the lock, where nothing was done under it
	 * @throws IllegalStateException when the transaction ends at this moment, or is about
	 * to be committed
	 */
	static Runnable keep(TransactionContext transaction, LockHandle lock) {
		if (lock instanceof LeaseHandle handle && transaction.isActualTransactionActive()) {
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
	 * A lock that a transaction still keeps although its handle was closed.
	 */
	static Optional<LockHandle> kept(TransactionContext transaction, LeaseKeeper keeper, String name) {
		Joined joined = joined(transaction, false);
		return (joined != null) ? Optional.ofNullable(joined.kept(keeper, name)) : Optional.empty();
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
	 * The locks of one transaction. As it has no order, it comes after all that has one:
	 * the last to look before the commit.
	 */
	private static final class Joined implements TransactionSynchronization {

		/**
		 * A monitor would pin a virtual thread to its carrier while it asks the store.
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
		 * Spring leaves the resources of a transaction in place while one of another
		 * store is inside it. What is found there then is the outer one's, which has the
		 * fence written right before its own commit.
		 */
		private @Nullable TransactionFence fence(LeaseHandle handle, TransactionContext transaction) {
			TransactionFence fence = handle.fenceFor(transaction);
			return (fence != null && isOfOuter(handle, fence)) ? null : fence;
		}

		private boolean isOfOuter(LeaseHandle handle, TransactionFence fence) {
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

		void join(LeaseHandle handle, TransactionContext transaction) {
			this.lock.lock();
			try {
				if (this.open.isTooLateFor(handle)) {
					throw new IllegalStateException(
							("The lock '%s' came too late: the other locks of its transaction, which is "
									+ "about to be committed, have been looked at already. Nothing was done under "
									+ "it. Take it earlier: around the transaction, or in its work")
								.formatted(handle.name()));
				}
				this.open.join(handle);
				// A sequence can be cancelled at any time, in another thread
				Set<TransactionSynchronization> known = transaction.getSynchronizations();
				if (known == null || !known.contains(this)) {
					this.open.leave(handle);
					throw new IllegalStateException(("The transaction ended before the work under the lock '%s' began. "
							+ "Nothing was done; do not use what a cancelled sequence was to deliver")
						.formatted(handle.name()));
				}
			}
			finally {
				this.lock.unlock();
			}
		}

		void leave(LeaseHandle handle) {
			this.lock.lock();
			try {
				this.open.leave(handle);
			}
			finally {
				this.lock.unlock();
			}
		}

		Mono<Void> prepared() {
			return this.open.isPrepared() ? Mono.empty()
					: Mono.<Void>fromRunnable(this.open::prepare).subscribeOn(STORE);
		}

		@Nullable LeaseHandle kept(LeaseKeeper keeper, String name) {
			this.lock.lock();
			try {
				return this.open.kept(keeper, name);
			}
			finally {
				this.lock.unlock();
			}
		}

		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			Mono<Void> check = Mono.fromRunnable(this::check);
			return this.open.asksStoreBeforeCommit() ? check.subscribeOn(STORE) : check;
		}

		private void check() {
			this.lock.lock();
			try {
				this.open.beforeCommit();
			}
			finally {
				this.lock.unlock();
			}
		}

		@Override
		public Mono<Void> afterCompletion(int status) {
			return Mono.defer(() -> {
				Mono<Void> end = Mono.fromRunnable(() -> ended(status));
				return this.open.standsAlone() ? end : end.subscribeOn(STORE);
			});
		}

		private void ended(int status) {
			this.lock.lock();
			try {
				if (status == STATUS_COMMITTED) {
					this.open.committed(null);
				}
				else {
					this.open.endInDoubt();
				}
				// One that had begun before its lock was taken could not wait for that
				this.open.prepare();
			}
			finally {
				this.lock.unlock();
			}
		}

	}

	/**
	 * Ends a committed transaction before anything else that follows the commit. Once
	 * that has failed, Spring tells nobody of the completion.
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
	 * Has each of its transactions join the locks around it.
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
