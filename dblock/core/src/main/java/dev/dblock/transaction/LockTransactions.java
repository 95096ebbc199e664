package dev.dblock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.dblock.LockHandle;
import dev.dblock.store.LockRepository;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions of an application and the locks that they run under.
 * <p>
 * A transaction runs under every lock that its thread holds when the transaction begins,
 * however the lock was acquired, and under those that are acquired inside it. Right
 * before the commit, each of them must still be held. If a lock is kept in the store that
 * the transaction writes to, the {@link TransactionFence} is written into the
 * transaction. Until the transaction has ended, none of its locks is released or handed
 * over. A lost lock prevents all commits of its thread until its handle is closed,
 * because the work under it is not over before.
 */
public final class LockTransactions {

	private static final Logger logger = LoggerFactory.getLogger(LockTransactions.class);

	private final List<Engine> engines = new CopyOnWriteArrayList<>();

	private final Map<TransactionExecution, OpenTransaction> open = new ConcurrentHashMap<>();

	private final ThreadLocal<@Nullable OpenTransaction> innermost = new ThreadLocal<>();

	/**
	 * Follow the transactions of a manager. A listener that fails keeps Spring from
	 * calling the listeners after it. Therefore the end of a transaction is handled
	 * before the existing listeners of the manager, and the fence is written after
	 * everything that they do before a commit.
	 * @param <M> the type of the manager
	 * @param manager the manager
	 */
	public <M extends PlatformTransactionManager & ConfigurableTransactionManager> void follow(M manager) {
		if (manager.getTransactionExecutionListeners().stream().anyMatch(this::isOwn)) {
			return;
		}
		List<TransactionExecutionListener> listeners = new ArrayList<>();
		listeners.add(new EndListener());
		listeners.addAll(manager.getTransactionExecutionListeners());
		listeners.add(new BeginListener(manager));
		manager.setTransactionExecutionListeners(listeners);
	}

	private boolean isOwn(TransactionExecutionListener listener) {
		return listener instanceof BeginListener begin && begin.transactions() == this;
	}

	public void follow(LockRepository repository, Supplier<List<? extends TransactionLock>> locksOfThread) {
		this.engines.add(new Engine(repository, locksOfThread));
	}

	/**
	 * Bind a lock that is being acquired inside a transaction of this thread to that
	 * transaction, which keeps the lock until its end. This applies to transactions of
	 * every manager, followed or not.
	 * @return the binding, or {@code null} if there is no transaction, or none whose end
	 * Spring reports to its synchronizations
	 */
	public @Nullable Binding bind(TransactionLock handle) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			return null;
		}
		Binding binding = KeptByTransaction.join(handle);
		join(handle);
		return binding;
	}

	/**
	 * Bind a lock under which work begins in a transaction of this thread to that
	 * transaction, if its manager is followed.
	 */
	public void join(TransactionLock handle) {
		OpenTransaction transaction = current();
		if (transaction != null) {
			transaction.join(handle);
		}
	}

	/**
	 * Continue the innermost transaction of this thread without a lock under which no
	 * work was done.
	 */
	public void leave(TransactionLock handle) {
		OpenTransaction transaction = current();
		if (transaction != null) {
			transaction.leave(handle);
		}
	}

	/**
	 * Find a lock that a transaction of this thread still keeps although its handle was
	 * closed.
	 */
	public Optional<LockHandle> kept(Object engine, String name) {
		Optional<LockHandle> bound = KeptByTransaction.find(engine, name);
		if (bound.isPresent() || this.open.isEmpty()) {
			return bound;
		}
		LockHandle kept = null;
		for (OpenTransaction transaction = current(); transaction != null
				&& kept == null; transaction = transaction.outer()) {
			kept = transaction.kept(engine, name);
		}
		return Optional.ofNullable(kept);
	}

	/**
	 * Return the innermost transaction of this thread. A transaction that another thread
	 * has ended is still stored here, and is skipped.
	 */
	private @Nullable OpenTransaction current() {
		OpenTransaction known = this.innermost.get();
		OpenTransaction current = known;
		while (current != null && current.isEnded()) {
			current = current.outer();
		}
		if (current == null && known != null) {
			this.innermost.remove();
		}
		else if (current != known) {
			this.innermost.set(current);
		}
		return current;
	}

	private record Engine(LockRepository repository, Supplier<List<? extends TransactionLock>> locksOfThread) {
	}

	private void end(TransactionExecution execution, Consumer<OpenTransaction> how) {
		OpenTransaction transaction = this.open.remove(execution);
		if (transaction != null) {
			how.accept(transaction);
			current();
		}
	}

	/**
	 * Handles the begin of transactions and their commits. A manager may be two beans, or
	 * pass its listeners on to another manager, so a transaction may be reported more
	 * than once. Only the first report counts.
	 */
	private final class BeginListener implements TransactionExecutionListener {

		private final PlatformTransactionManager manager;

		BeginListener(PlatformTransactionManager manager) {
			this.manager = manager;
		}

		LockTransactions transactions() {
			return LockTransactions.this;
		}

		@Override
		public void afterBegin(TransactionExecution execution, @Nullable Throwable failure) {
			// A savepoint inside a transaction is not a separate transaction
			if (failure == null && execution.isNewTransaction() && !LockTransactions.this.open.containsKey(execution)) {
				begin(execution);
			}
		}

		private void begin(TransactionExecution execution) {
			OpenTransaction transaction = new OpenTransaction((handle) -> handle.store().fenceFor(this.manager),
					execution.isReadOnly(), current());
			LockTransactions.this.open.put(execution, transaction);
			LockTransactions.this.innermost.set(transaction);
			if (TransactionSynchronizationManager.isSynchronizationActive()) {
				TransactionSynchronizationManager.registerSynchronization(completion(execution, transaction));
			}
			for (Engine engine : LockTransactions.this.engines) {
				prepare(engine.repository(), execution);
				engine.locksOfThread().get().forEach(transaction::join);
			}
		}

		/**
		 * Prepare the fence when the transaction begins. A lock may be acquired inside
		 * the transaction, which sees the store as it is now.
		 */
		private void prepare(LockRepository repository, TransactionExecution execution) {
			try {
				TransactionFence fence = execution.isReadOnly() ? null : repository.fenceFor(this.manager);
				if (fence != null) {
					fence.prepare();
				}
			}
			catch (RuntimeException ex) {
				logger.debug("The fence of a transaction could not be prepared", ex);
			}
		}

		@Override
		public void beforeCommit(TransactionExecution execution) {
			OpenTransaction transaction = LockTransactions.this.open.get(execution);
			if (transaction != null && !transaction.isCommitting()) {
				transaction.beforeCommit();
			}
		}

	}

	private final class EndListener implements TransactionExecutionListener {

		@Override
		public void afterCommit(TransactionExecution execution, @Nullable Throwable failure) {
			end(execution, (transaction) -> transaction.committed(failure));
		}

		@Override
		public void afterRollback(TransactionExecution execution, @Nullable Throwable failure) {
			end(execution, OpenTransaction::end);
		}

	}

	/**
	 * Follow what is not reported to listeners, or too late: that a transaction is about
	 * to end or has ended, and that a listener has failed before the roll-back or before
	 * the commit attempt.
	 */
	private TransactionSynchronization completion(TransactionExecution execution, OpenTransaction transaction) {
		return new TransactionSynchronization() {

			@Override
			public void beforeCompletion() {
				transaction.beforeCompletion();
			}

			@Override
			public void afterCommit() {
				// Before what other synchronizations do now
				transaction.completed();
			}

			@Override
			public void afterCompletion(int status) {
				transaction.completed();
				if (status == STATUS_UNKNOWN && !transaction.isCommitting()) {
					end(execution, OpenTransaction::end);
				}
			}

		};
	}

	/**
	 * Binding of a lock to the transaction in which it was acquired.
	 */
	public interface Binding {

		/**
		 * Continue the transaction without the lock.
		 */
		void forget();

	}

}
