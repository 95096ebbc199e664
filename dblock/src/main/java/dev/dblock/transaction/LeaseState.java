package dev.dblock.transaction;

import dev.dblock.LossReason;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;

/**
 * The end of a lease, the transactions under it and the requests of its owner. They are
 * guarded by one monitor, so that no transaction begins under a lease that is being
 * released, no lease is released under an open transaction, and no request for an owner
 * changes the lease of its successor. No method blocks while it has the monitor.
 */
public final class LeaseState {

	/** Indicates that there is no slot. */
	static final int NO_SLOT = -1;

	private static final int ALL_SLOTS = (1 << TransactionFence.SLOTS) - 1;

	private volatile @Nullable LossReason end;

	private volatile boolean aboutToEnd;

	private volatile boolean abandoned;

	private boolean handedOver;

	/** Whether a request of the owner may change the lease at the store. */
	private boolean changed;

	private int openTransactions;

	private boolean releaseWanted;

	/** A bit for each slot of an open transaction. */
	private int slotsInUse;

	/** A bit for each slot of a transaction with an unknown outcome. */
	private int retiredSlots;

	private @Nullable SessionSlots sessionSlots;

	public @Nullable LossReason end() {
		return this.end;
	}

	/**
	 * End the lease, once. A loss takes effect immediately; a release waits for the
	 * transactions.
	 * @return whether this call ended it
	 */
	public synchronized boolean endWith(LossReason reason) {
		if (this.end != null || reason == LossReason.RELEASED && this.openTransactions > 0) {
			return false;
		}
		this.end = reason;
		return true;
	}

	/**
	 * End the lease for a successor that continues under the same acquisition. A
	 * transaction whose end is unknown prevents that, as an open transaction does. A
	 * request of the owner prevents it as well, even one that was answered.
	 * @return whether this call ended it
	 */
	public synchronized boolean endForSuccessor() {
		if (!canEndForSuccessor()) {
			return false;
		}
		this.end = LossReason.RELEASED;
		this.handedOver = true;
		return true;
	}

	/**
	 * Return whether the lease could be ended for a successor now. Another thread can
	 * still prevent it, so {@link #endForSuccessor()} decides.
	 */
	public synchronized boolean canEndForSuccessor() {
		return this.end == null && !this.changed && isClear();
	}

	/**
	 * Return whether a successor continues under the same acquisition, so that no request
	 * may be sent for this lease.
	 */
	public synchronized boolean isHandedOver() {
		return this.handedOver;
	}

	/**
	 * Begin a request of the owner that changes the lease at the store. The request names
	 * the acquisition. The token could not distinguish the owner from a successor there,
	 * because a hand-over sends no request, so the store knows only the last token of the
	 * block that both belong to. Therefore either the request or the hand-over is
	 * refused, here. A request that was not answered can be applied at any later time, so
	 * there is no end of a change.
	 * @return {@code false} when the lease has already ended
	 */
	public synchronized boolean beginChange() {
		boolean held = this.end == null;
		this.changed |= held;
		return held;
	}

	/**
	 * Turn a release into a loss, because the store no longer had this acquisition as the
	 * holder. The lease had been lost before, and the loss had not been noticed.
	 * @return whether this call did so
	 */
	public synchronized boolean turnIntoLoss() {
		boolean released = this.end == LossReason.RELEASED;
		if (released) {
			this.end = LossReason.TAKEN_OVER;
		}
		return released;
	}

	/**
	 * Mark the work under this lease as completed and its release as imminent.
	 */
	public void aboutToEnd() {
		this.aboutToEnd = true;
	}

	public boolean isAboutToEnd() {
		return this.aboutToEnd && this.end == null;
	}

	/**
	 * Mark the handle of this lease as unreachable.
	 * @return whether this is the first call for a lease that has not ended
	 */
	public boolean abandon() {
		boolean first = !this.abandoned && this.end == null;
		this.abandoned = true;
		return first;
	}

	public boolean isAbandoned() {
		return this.abandoned;
	}

	/**
	 * Return whether no transaction can be in progress under this lease.
	 */
	public synchronized boolean isClear() {
		return this.openTransactions == 0 && this.retiredSlots == 0;
	}

	/**
	 * Return whether there is a transaction with an unknown outcome.
	 */
	public synchronized boolean isUnsettled() {
		return this.retiredSlots != 0;
	}

	/**
	 * Begin a transaction.
	 * @return {@code false} when the lease has already ended
	 */
	synchronized boolean open() {
		boolean held = this.end == null;
		this.openTransactions += held ? 1 : 0;
		return held;
	}

	/**
	 * Choose a slot that is not in use by a transaction with a pending outcome.
	 * @return its number, or {@link #NO_SLOT} when there is none, or the lease has ended
	 */
	synchronized int takeSlot() {
		int slot = nextSlot();
		this.slotsInUse |= (slot != NO_SLOT) ? 1 << slot : 0;
		return slot;
	}

	/**
	 * Choose a slot for transactions whose end is not reported. From then on, the lease
	 * cannot end without notice to the next holder.
	 * @return its number, or {@link #NO_SLOT} when there is none, or the lease has ended
	 */
	synchronized int takeRetiredSlot() {
		int slot = nextSlot();
		this.retiredSlots |= (slot != NO_SLOT) ? 1 << slot : 0;
		return slot;
	}

	private int nextSlot() {
		return (this.end == null && hasFreeSlot())
				? Integer.numberOfTrailingZeros(~(this.slotsInUse | this.retiredSlots)) : NO_SLOT;
	}

	synchronized boolean hasFreeSlot() {
		return (this.slotsInUse | this.retiredSlots) != ALL_SLOTS;
	}

	synchronized void freeSlot(int slot) {
		this.slotsInUse &= ~(1 << slot);
		this.retiredSlots &= ~(1 << slot);
	}

	/**
	 * Retire a slot, because its transaction may still be committed and its end is not
	 * reported.
	 */
	synchronized void retireSlot(int slot) {
		this.slotsInUse &= ~(1 << slot);
		this.retiredSlots |= 1 << slot;
	}

	/**
	 * Defer a release until the last transaction has ended.
	 * @return {@code false} when there is none
	 */
	public synchronized boolean releaseAtEnd() {
		boolean open = this.openTransactions > 0;
		this.releaseWanted |= open;
		return open;
	}

	/**
	 * End a transaction.
	 * @return whether it was the last one, and a release waits for it
	 */
	synchronized boolean close() {
		this.openTransactions--;
		boolean release = this.releaseWanted && this.openTransactions == 0;
		this.releaseWanted &= !release;
		return release;
	}

	/**
	 * Return the slots of sessions that the application manages itself.
	 */
	synchronized SessionSlots sessionSlots() {
		if (this.sessionSlots == null) {
			this.sessionSlots = new SessionSlots(this);
		}
		return this.sessionSlots;
	}

}
