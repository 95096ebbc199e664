package dev.dblock.core.lease;

import java.util.concurrent.Executor;

import dev.dblock.LockLostException;
import dev.dblock.LossReason;
import dev.dblock.engine.HeldLock;
import dev.dblock.store.LockRepository;

/**
 * The handle of a lock that has a lease, as the packages of the engine use it.
 */
public interface LeasedLock extends HeldLock {

	/**
	 * Return the lease of this lock.
	 */
	Lease lease();

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
	 * Bind the lock, which is being acquired, to the transaction of this thread, if there
	 * is one. The transaction keeps the lock until its end.
	 */
	void joinTransaction();

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

	/**
	 * Run the callbacks of a lost lease, each in its own thread.
	 * @param threads runs the callbacks
	 */
	void runLostCallbacks(Executor threads);

}
