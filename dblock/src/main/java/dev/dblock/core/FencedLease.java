package dev.dblock.core;

import java.util.List;

import dev.dblock.LossReason;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lock under one transaction.
 */
final class FencedLease {

	private static final Logger logger = LoggerFactory.getLogger(FencedLease.class);

	private final LeaseHandle handle;

	private final boolean open;

	private final @Nullable TransactionFence fence;

	private final int slot;

	private int joined = 1;

	private boolean unsettled;

	private boolean ended;

	private FencedLease(LeaseHandle handle, boolean open, @Nullable TransactionFence fence, int slot) {
		this.handle = handle;
		this.open = open;
		this.fence = fence;
		this.slot = slot;
	}

	/**
	 * Have a transaction stand under a lock.
	 * @param handle the handle, which is kept alive by the transaction
	 * @param fence what makes the transaction depend on the lock, if anything does
	 */
	static FencedLease begin(LeaseHandle handle, @Nullable TransactionFence fence) {
		LeaseState state = handle.lease().state();
		if (!state.open()) {
			return new FencedLease(handle, false, fence, LeaseState.NO_SLOT);
		}
		if (fence == null) {
			return new FencedLease(handle, true, null, LeaseState.NO_SLOT);
		}
		return new FencedLease(handle, true, fence, state.takeSlot());
	}

	LeaseHandle handle() {
		return this.handle;
	}

	boolean isKept(LeaseKeeper keeper, String name) {
		return this.open && this.handle.isClosed() && this.handle.isOf(keeper) && this.handle.name().equals(name);
	}

	boolean isOf(LeaseHandle handle) {
		return this.handle == handle;
	}

	/**
	 * Whether the transaction that another fence would be written into has this lock's
	 * already, or will have it.
	 */
	boolean isFencedLike(TransactionFence other) {
		return this.fence != null && this.slot != LeaseState.NO_SLOT && this.fence.isOfSameTransactionAs(other);
	}

	/**
	 * One more piece of work of the transaction is under the lock.
	 */
	void joinAgain() {
		this.joined++;
	}

	/**
	 * Nothing was done by a piece of work.
	 * @return whether it was the only one
	 */
	boolean leave() {
		return --this.joined == 0;
	}

	/**
	 * Whether the store is asked before the commit.
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
	 * Check what can be known without the store.
	 * @throws dev.dblock.LockLostException when the lock is not held any more
	 * @throws IllegalStateException when too many transactions are open under it
	 */
	void check() {
		this.handle.ensureHeld();
		if (this.fence != null && this.slot == LeaseState.NO_SLOT) {
			throw tooMany(this.handle);
		}
	}

	static IllegalStateException tooMany(LeaseHandle handle) {
		return new IllegalStateException(
				("A transaction under the lock '%s' (fencing token %d) is rolled back: when it began, %d others under the same "
						+ "lock were open, or had ended in a way that nobody knows, and no more can be fenced at a time. "
						+ "Let one of them end before another begins")
					.formatted(handle.name(), handle.token(), TransactionFence.SLOTS));
	}

	/**
	 * Write the fence, where there is one.
	 */
	TransactionFence.Written write() {
		if (this.fence == null) {
			return TransactionFence.Written.DONE;
		}
		this.unsettled = true;
		Lease lease = this.handle.lease();
		return this.fence.write(lease.key(), lease.token(), this.slot);
	}

	RuntimeException lose() {
		return overtaken(this.handle);
	}

	/**
	 * The fence of a transaction that was about to be committed has told that another one
	 * has the lock.
	 * @return what to throw
	 */
	static RuntimeException overtaken(LeaseHandle handle) {
		return handle.lose(LossReason.TAKEN_OVER, "A transaction under it was about to be committed");
	}

	/**
	 * The transaction is over for sure, committed or not.
	 */
	void settle() {
		this.unsettled = false;
	}

	/**
	 * The commit failed.
	 */
	void settleUnlessOpen(Throwable failure) {
		if (this.fence != null && this.fence.isEndedBy(failure)) {
			settle();
		}
	}

	/**
	 * Nobody has said whether the store knows that the transaction is over. Whoever can
	 * write the fence outside of it knows. Of a lock that is lost the next holder asks.
	 */
	void settleByStore() {
		Lease lease = this.handle.lease();
		if (this.fence == null || !this.unsettled || lease.end() != null) {
			return;
		}
		try {
			this.fence.settle(lease.key(), lease.token(), List.of(this.slot));
			settle();
		}
		catch (RuntimeException ex) {
			logger.debug("A transaction under the lock '{}' may still be committed", this.handle.name(), ex);
		}
	}

	/**
	 * The transaction has ended as far as this process is concerned.
	 */
	void end() {
		if (!this.open || this.ended) {
			return;
		}
		this.ended = true;
		LeaseState state = this.handle.lease().state();
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
