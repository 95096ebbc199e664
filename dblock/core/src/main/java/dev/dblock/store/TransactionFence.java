package dev.dblock.store;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Makes the commit of a transaction depend on a lock in the same store. The holder writes
 * its token into the transaction. A new holder that takes the lock over from one that has
 * not released it writes a higher token outside of any transaction. The store applies
 * only one of the two, or one after the other. (The idea is the fencing token of Martin
 * Kleppmann's "How to do distributed locking", checked by the store's own transactions.)
 */
public interface TransactionFence {

	/**
	 * The number of transactions of one lock that can be fenced at a time. Each has a
	 * slot of its own, so that they do not conflict with each other.
	 */
	int SLOTS = 4;

	/**
	 * Ensure that transactions that begin from now on can write the fence. Throws no
	 * exceptions.
	 */
	void prepare();

	/**
	 * Whether there is nothing to prepare at present, so that {@link #prepare()} takes no
	 * time.
	 */
	boolean isPrepared();

	/**
	 * Whether another fence would be written into the same transaction of the store.
	 * @param other the other fence
	 * @return {@code false} unless that is known
	 */
	default boolean isOfSameTransactionAs(TransactionFence other) {
		return this == other;
	}

	/**
	 * Write the fence as a part of the transaction that is about to be committed.
	 * @param lease the acquisition
	 * @param token the fencing token of its current owner
	 * @param slot the slot that belongs to this transaction alone
	 * @return the result
	 */
	Written write(LeaseKey lease, long token, int slot);

	/**
	 * Write the fence outside of any transaction, and thereby wait briefly until no
	 * transaction that wrote it before can be committed any more.
	 * @param lease the acquisition
	 * @param token the fencing token of its current owner
	 * @param slots the slots
	 * @throws org.springframework.dao.DataAccessException if that does not succeed in
	 * time
	 */
	void settle(LeaseKey lease, long token, List<Integer> slots);

	/**
	 * Whether a transaction whose commit failed after the fence was written has certainly
	 * ended.
	 * @param failure how the commit failed
	 * @return {@code false} if it may have been committed, or may still be committed
	 */
	boolean isEndedBy(Throwable failure);

	/**
	 * The result of writing the fence.
	 *
	 * @param outcome how it ended
	 * @param failure the failure, if any
	 */
	record Written(Outcome outcome, @Nullable RuntimeException failure) {

		/**
		 * The fence was written, and takes effect if the transaction is committed.
		 */
		public static final Written DONE = new Written(Outcome.DONE, null);

	}

	/**
	 * The possible results of writing the fence.
	 */
	enum Outcome {

		/**
		 * It was written.
		 */
		DONE,

		/**
		 * The lock has another holder. The transaction must be rolled back.
		 */
		OVERTAKEN,

		/**
		 * The lock is still held, but the store has ended the transaction for another
		 * reason.
		 */
		ENDED,

		/**
		 * It is unknown whether it was written, and whether the store has ended the
		 * transaction.
		 */
		UNKNOWN

	}

}
