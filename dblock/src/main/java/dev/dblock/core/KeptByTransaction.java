package dev.dblock.core;

import java.util.Optional;

import dev.dblock.LockHandle;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Keeps a lock that was acquired inside an open transaction until that transaction has
 * completed: given back before the commit, the next holder would not see what was written
 * under it. A commit under a lock that was lost is refused.
 */
final class KeptByTransaction implements TransactionSynchronization {

	private final LeaseHandle handle;

	private final Key key;

	private boolean completed;

	private boolean releaseWanted;

	private KeptByTransaction(LeaseHandle handle, LeaseKeeper keeper) {
		this.handle = handle;
		this.key = new Key(keeper, handle.name());
	}

	/**
	 * Bind a new handle to the transaction of this thread, if there is one.
	 * @return what keeps it, or {@code null} outside of transactions
	 */
	static @Nullable KeptByTransaction join(LeaseHandle handle, LeaseKeeper keeper) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		KeptByTransaction kept = new KeptByTransaction(handle, keeper);
		TransactionSynchronizationManager.registerSynchronization(kept);
		TransactionSynchronizationManager.unbindResourceIfPossible(kept.key);
		TransactionSynchronizationManager.bindResource(kept.key, kept);
		return kept;
	}

	/**
	 * A lock that a transaction of this thread still keeps although its handle was
	 * closed.
	 */
	static Optional<LockHandle> find(LeaseKeeper keeper, String name) {
		Object bound = TransactionSynchronizationManager.getResource(new Key(keeper, name));
		return (bound instanceof KeptByTransaction kept && kept.isReleaseOutstanding()) ? Optional.of(kept.handle)
				: Optional.empty();
	}

	/**
	 * A transaction that was completed by another thread (by a recovery, for instance)
	 * leaves its key bound to the thread that began it.
	 */
	private synchronized boolean isReleaseOutstanding() {
		if (this.completed) {
			unbind();
		}
		return this.releaseWanted && !this.completed;
	}

	/**
	 * Put the release off until the transaction has completed.
	 * @return whether it was put off; {@code false} when the transaction has completed
	 * already
	 */
	synchronized boolean releaseAtEnd() {
		this.releaseWanted = !this.completed;
		return this.releaseWanted;
	}

	/**
	 * Have the transaction go on without the lock.
	 */
	void forget() {
		unbind();
		synchronized (this) {
			this.completed = true;
		}
	}

	private synchronized boolean isCompleted() {
		return this.completed;
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		if (!isCompleted()) {
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
		synchronized (this) {
			this.completed = true;
			if (!this.releaseWanted) {
				return;
			}
		}
		this.handle.releaseAfterTransactions();
	}

	private record Key(LeaseKeeper keeper, String name) {
	}

}
