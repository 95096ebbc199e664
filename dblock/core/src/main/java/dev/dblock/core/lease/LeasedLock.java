package dev.dblock.core.lease;

import java.util.concurrent.Executor;

import dev.dblock.claim.Claimed;
import dev.dblock.transaction.TransactionLock;

/**
 * The handle of a lock that has a lease, as the engine uses it.
 */
public interface LeasedLock extends TransactionLock, Claimed.Holder {

	/**
	 * Return the lease of this lock.
	 */
	Lease lease();

	/**
	 * Bind the lock, which is being acquired, to the transaction of this thread, if there
	 * is one. The transaction keeps the lock until its end.
	 */
	void joinTransaction();

	/**
	 * Run the callbacks of a lost lease, each in its own thread.
	 * @param threads runs the callbacks
	 */
	void runLostCallbacks(Executor threads);

}
