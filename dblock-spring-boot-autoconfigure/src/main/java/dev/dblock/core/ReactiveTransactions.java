package dev.dblock.core;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.LockHandle;
import dev.dblock.ReactiveLockTemplate;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.Ordered;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Reactive transactions, and the locks of the sequences that they are a part of.
 * <p>
 * A transaction that has joined its locks is committed only while this process believes
 * in each of them, and none is given back or handed over before the transaction has
 * ended, even if the sequence is cancelled. Nothing is written into it, so what a holder
 * commits that does not know of its loss yet is not refused (see
 * {@link TransactionFence}).
 */
public final class ReactiveTransactions {

	private ReactiveTransactions() {
	}

	/**
	 * Have the transaction that the subscriber is in join the locks that it is under. To
	 * be subscribed to inside of the transaction, before its work. Does nothing outside
	 * of transactions and of locks, in a transaction that is read-only, and a second
	 * time.
	 * @return completes when the work may begin
	 */
	public static Mono<Void> join() {
		return Mono.deferContextual((context) -> {
			List<LockHandle> locks = ReactiveLockTemplate.all(context);
			return locks.isEmpty() ? Mono.empty()
					: TransactionSynchronizationManager.forCurrentTransaction()
						.doOnNext((transaction) -> join(transaction, locks))
						.then()
						.onErrorComplete(NoTransactionException.class);
		});
	}

	private static void join(TransactionSynchronizationManager transaction, List<LockHandle> locks) {
		if (!transaction.isActualTransactionActive() || !transaction.isSynchronizationActive()
				|| transaction.isCurrentTransactionReadOnly()) {
			return;
		}
		List<LockHandle> joining = new ArrayList<>(locks);
		for (TransactionSynchronization known : transaction.getSynchronizations()) {
			if (known instanceof Joined joined) {
				joining.remove(joined.handle);
			}
		}
		for (LockHandle lock : joining) {
			if (lock instanceof LeaseHandle handle) {
				transaction.registerSynchronization(new Joined(handle));
			}
		}
	}

	/**
	 * The last to look before the commit.
	 */
	private static final class Joined implements TransactionSynchronization, Ordered {

		private final LeaseHandle handle;

		private final FencedLease lease;

		Joined(LeaseHandle handle) {
			this.handle = handle;
			this.lease = FencedLease.begin(handle, null);
		}

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		// Where the lease has to be proved to the server, that must not block an event
		// loop
		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			Mono<Void> check = Mono.fromRunnable(this.lease::check);
			return this.handle.isHeld() ? check : check.subscribeOn(Schedulers.boundedElastic());
		}

		@Override
		public Mono<Void> afterCompletion(int status) {
			return Mono.<Void>fromRunnable(this.lease::end).subscribeOn(Schedulers.boundedElastic());
		}

	}

}
