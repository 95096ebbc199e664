package dev.dblock.transaction;

import dev.dblock.LockLostException;
import dev.dblock.LossReason;
import dev.dblock.engine.HeldLock;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;

/**
 * The handle of a lock in a store, as the transactions under the lock use it.
 */
public interface TransactionLock extends HeldLock {

	/**
	 * Return the acquisition in the store.
	 */
	LeaseKey key();

	/**
	 * Return the end of the lease and the transactions under it.
	 */
	LeaseState state();

	/**
	 * Return what identifies the engine that has acquired the lock.
	 */
	Object engine();

	/**
	 * Return the store of the lock.
	 */
	LockRepository store();

	/**
	 * Return whether the release was requested. It may be deferred until the end of a
	 * transaction.
	 */
	boolean isClosed();

	/**
	 * Release the lock after the last transaction under it. No caller is left to receive
	 * a failure, so it is logged.
	 */
	void releaseAfterTransactions();

	/**
	 * End the lease as lost, because another holder of the lock was found.
	 * @param reason the reason
	 * @param detail further details beyond the reason, for the log
	 * @return the exception to throw
	 */
	LockLostException lose(LossReason reason, String detail);

}
