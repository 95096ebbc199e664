package dev.dblock.transaction;

import java.util.List;

import dev.dblock.LossReason;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock held during a transaction.
 */
final class FencedLease {

	private static final Logger logger = LoggerFactory.getLogger(FencedLease.class);

	private final TransactionLock handle;

	private final boolean open;

	private final @Nullable TransactionFence fence;

	private int slot;

	private int joined = 1;

	private boolean unsettled;

	private boolean ended;

	private FencedLease(TransactionLock handle, boolean open, @Nullable TransactionFence fence, int slot) {
		this.handle = handle;
		this.open = open;
		this.fence = fence;
		this.slot = slot;
	}

	/**
	 * Begin a transaction under a lock.
	 * @param handle the handle, which is kept alive by the transaction
	 * @param fence makes the transaction depend on the lock; {@code null} if nothing does
	 */
	static FencedLease begin(TransactionLock handle, @Nullable TransactionFence fence) {
		LeaseState state = handle.state();
		if (!state.open()) {
			return new FencedLease(handle, false, fence, LeaseState.NO_SLOT);
		}
		if (fence == null) {
			return new FencedLease(handle, true, null, LeaseState.NO_SLOT);
		}
		return new FencedLease(handle, true, fence, state.takeSlot());
	}

	TransactionLock handle() {
		return this.handle;
	}

	boolean isKept(Object engine, String name) {
		return this.open && this.handle.isClosed() && this.handle.engine() == engine && this.handle.name().equals(name);
	}

	boolean isOf(TransactionLock handle) {
		return this.handle == handle;
	}

	/**
	 * Return whether the transaction that the other fence would be written into contains
	 * the fence of this lock already, or will contain it.
	 */
	boolean isFencedLike(TransactionFence other) {
		return this.fence != null && this.slot != LeaseState.NO_SLOT && this.fence.isOfSameTransactionAs(other);
	}

	/**
	 * Count another piece of work of the transaction under the lock.
	 */
	void joinAgain() {
		this.joined++;
	}

	/**
	 * Leave the lock for a piece of work that did nothing under it.
	 * @return whether it was the only one
	 */
	boolean leave() {
		return --this.joined == 0;
	}

	/**
	 * Return whether the commit is preceded by a request to the store.
	 */
	boolean asksStore() {
		return this.fence != null || !this.handle.isHeld();
	}

	boolean isPrepared() {
		return this.fence == null || this.fence.isPrepared();
	}

	void prepare() {
		if (this.fence != null) {
			this.fence.prepare();
		}
	}

	/**
	 * Check the conditions that can be known without the store.
	 * @throws dev.dblock.LockLostException when the lock is no longer held
	 * @throws IllegalStateException when too many transactions are open under it
	 */
	void check() {
		this.handle.ensureHeld();
		if (this.fence != null && this.slot == LeaseState.NO_SLOT && !takeSettledSlot(this.fence)) {
			throw tooMany(this.handle);
		}
	}

	/**
	 * Take the slot of a transaction that had an unknown outcome, and is over by now.
	 * @return whether there is one
	 */
	private boolean takeSettledSlot(TransactionFence fence) {
		LeaseState state = this.handle.state();
		try {
			state.sessionSlots()
				.makeRoom((session) -> true, (slots) -> fence.settle(this.handle.key(), this.handle.token(), slots));
			this.slot = state.takeSlot();
		}
		catch (RuntimeException ex) {
			logger.debug("Earlier transactions under the lock '{}' may still be in progress", this.handle.name(), ex);
		}
		return this.slot != LeaseState.NO_SLOT;
	}

	static IllegalStateException tooMany(TransactionLock handle) {
		return new IllegalStateException(
				("A transaction under the lock '%s' (fencing token %d) is rolled back: when it began, %d others under"
						+ " the same lock were open, or their outcome was unknown, and no more can be fenced at a"
						+ " time. Let one of them end before another begins")
					.formatted(handle.name(), handle.token(), TransactionFence.SLOTS));
	}

	/**
	 * Write the fence, if there is one.
	 */
	TransactionFence.Written write() {
		if (this.fence == null) {
			return TransactionFence.Written.DONE;
		}
		this.unsettled = true;
		return this.fence.write(this.handle.key(), this.handle.token(), this.slot);
	}

	RuntimeException lose() {
		return overtaken(this.handle);
	}

	/**
	 * End the lease as lost, because the fence of a transaction that was about to be
	 * committed reported another holder.
	 * @return the exception to throw
	 */
	static RuntimeException overtaken(TransactionLock handle) {
		return handle.lose(LossReason.TAKEN_OVER, "A transaction under it was about to be committed");
	}

	/**
	 * Record that the transaction has definitely ended, committed or not.
	 */
	void settle() {
		this.unsettled = false;
	}

	/**
	 * Record that the commit failed, which settles the transaction if that failure proves
	 * its end.
	 */
	void settleUnlessOpen(Throwable failure) {
		if (this.fence != null && this.fence.isEndedBy(failure)) {
			settle();
		}
	}

	/**
	 * Settle the transaction through the store, if it was not reported whether the store
	 * knows of its end. A fence that can be written outside of the transaction proves
	 * that end. For a lost lock, the next holder does this.
	 */
	void settleByStore() {
		if (this.fence == null || !this.unsettled || this.handle.state().end() != null) {
			return;
		}
		try {
			this.fence.settle(this.handle.key(), this.handle.token(), List.of(this.slot));
			settle();
		}
		catch (RuntimeException ex) {
			logger.debug("A transaction under the lock '{}' may still be committed", this.handle.name(), ex);
		}
	}

	/**
	 * End the transaction as far as this process is concerned.
	 */
	void end() {
		if (!this.open || this.ended) {
			return;
		}
		this.ended = true;
		LeaseState state = this.handle.state();
		if (this.slot != LeaseState.NO_SLOT) {
			if (this.unsettled) {
				state.retireSlot(this.slot);
			}
			else {
				state.freeSlot(this.slot);
			}
		}
		if (state.close()) {
			this.handle.releaseAfterTransactions();
		}
	}

}
