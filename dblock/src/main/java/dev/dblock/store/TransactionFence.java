package dev.dblock.store;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Makes the commit of a transaction depend on a lock that is kept in the same store: the
 * holder writes its token into the transaction, and whoever takes the lock over from a
 * holder that has not released it writes a higher one outside of any. The store lets only
 * one of the two happen, or one after the other. (The idea is the fencing token of Martin
 * Kleppmann's "How to do distributed locking", checked by the store's own transactions.)
 */
public interface TransactionFence {

	/**
	 * How many transactions of one lock can be fenced at a time. Each has a slot of its
	 * own, so that they do not collide with one another.
	 */
	int SLOTS = 4;

	/**
	 * See to it that transactions that begin from now on can write the fence. Throws
	 * nothing.
	 */
	void prepare();

	/**
	 * Whether nothing is to be prepared at present, so that {@link #prepare()} takes no
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
	 * @param token the fencing token of its present owner
	 * @param slot the slot that belongs to this transaction alone
	 * @return what came of it
	 */
	Written write(LeaseKey lease, long token, int slot);

	/**
	 * Write the fence outside of any transaction, and so wait a moment until none that
	 * has written it before can be committed any more.
	 * @param lease the acquisition
	 * @param token the fencing token of its present owner
	 * @param slots the slots
	 * @throws org.springframework.dao.DataAccessException when that cannot be had in time
	 */
	void settle(LeaseKey lease, long token, List<Integer> slots);

	/**
	 * Whether a transaction whose commit failed after the fence was written has surely
	 * ended.
	 * @param failure how the commit failed
	 * @return {@code false} when it may have been committed, or may be still
	 */
	boolean isEndedBy(Throwable failure);

	/**
	 * What came of writing the fence.
	 *
	 * @param outcome how it ended
	 * @param failure what went wrong, if anything
	 */
	record Written(Outcome outcome, @Nullable RuntimeException failure) {

		/**
		 * The fence stands if the transaction is committed.
		 */
		public static final Written DONE = new Written(Outcome.DONE, null);

	}

	/**
	 * How the writing of the fence can end.
	 */
	enum Outcome {

		/**
		 * It was written.
		 */
		DONE,

		/**
		 * Somebody else has the lock. The transaction must be rolled back.
		 */
		OVERTAKEN,

		/**
		 * The lock is still held, but the store has ended the transaction for another
		 * reason.
		 */
		ENDED,

		/**
		 * It is not known whether it was written, nor whether the store has ended the
		 * transaction.
		 */
		UNKNOWN

	}

}
