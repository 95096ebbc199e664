package dev.dblock.transaction;

import java.util.Optional;

import dev.dblock.LockHandle;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Keeps a lock that was acquired inside an open transaction until that transaction has
 * completed. If the lock were released before the commit, the next holder would not see
 * the changes made under it. A commit under a lost lock is refused.
 */
final class KeptByTransaction implements TransactionSynchronization, LockTransactions.Binding {

	private final TransactionLock handle;

	private final Key key;

	private volatile boolean completed;

	private KeptByTransaction(TransactionLock handle) {
		this.handle = handle;
		this.key = new Key(handle.engine(), handle.name());
	}

	/**
	 * Bind a new handle to the open transaction of this thread.
	 * @return the binding, or {@code null} if no synchronization is active
	 */
	static @Nullable KeptByTransaction join(TransactionLock handle) {
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		KeptByTransaction kept = new KeptByTransaction(handle);
		TransactionSynchronizationManager.registerSynchronization(kept);
		TransactionSynchronizationManager.unbindResourceIfPossible(kept.key);
		TransactionSynchronizationManager.bindResource(kept.key, kept);
		handle.state().bind();
		return kept;
	}

	/**
	 * Find a lock that a transaction of this thread still keeps although its handle was
	 * closed.
	 */
	static Optional<LockHandle> find(Object engine, String name) {
		Object bound = TransactionSynchronizationManager.getResource(new Key(engine, name));
		return (bound instanceof KeptByTransaction kept && kept.isReleaseOutstanding()) ? Optional.of(kept.handle)
				: Optional.empty();
	}

	/**
	 * Return whether the release is deferred and the transaction has not completed. A
	 * transaction that was completed by another thread (for instance by a recovery)
	 * leaves its key bound to the thread that began it, so the key is unbound here.
	 */
	private boolean isReleaseOutstanding() {
		if (this.completed) {
			unbind();
			return false;
		}
		return this.handle.state().isKeptAfterRelease();
	}

	@Override
	public void forget() {
		unbind();
		this.completed = true;
		this.handle.state().unbind();
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		if (!this.completed) {
			this.handle.ensureHeld();
		}
	}

	private void unbind() {
		if (TransactionSynchronizationManager.getResource(this.key) == this) {
			TransactionSynchronizationManager.unbindResource(this.key);
		}
	}

	@Override
	public void afterCompletion(int status) {
		unbind();
		this.completed = true;
		if (this.handle.state().unbind()) {
			this.handle.releaseAfterTransactions();
		}
	}

	private record Key(Object engine, String name) {
	}

}
