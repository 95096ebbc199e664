package dev.dblock.transaction;

import java.util.List;
import java.util.stream.IntStream;

import dev.dblock.LossReason;
import dev.dblock.store.TransactionFence;
import dev.dblock.transaction.LeasePhase.Event;
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

	// The life of the lease

	private volatile LeasePhase phase = LeasePhase.HELD;

	/** Written before the phase, and read after it. */
	private volatile @Nullable LossReason loss;

	// What keeps it from being released or handed over

	private int openTransactions;

	/** Whether the transaction in which the lock was acquired has not completed. */
	private boolean bound;

	/** Whether a request of the owner may change the lease at the store. */
	private boolean changed;

	// The slots of its transactions at the store

	/** A bit for each slot of an open transaction. */
	private int slotsInUse;

	/** A bit for each slot of a transaction with an unknown outcome. */
	private int retiredSlots;

	private @Nullable SessionSlots sessionSlots;

	private boolean happens(Event event) {
		LeasePhase next = this.phase.after(event);
		this.phase = (next != null) ? next : this.phase;
		return next != null;
	}

	/**
	 * Return how the lease has ended, or {@code null} if it has not.
	 */
	public @Nullable LossReason end() {
		LeasePhase now = this.phase;
		if (now.isHeld()) {
			return null;
		}
		boolean released = now == LeasePhase.RELEASED || now == LeasePhase.HANDED_OVER;
		return released ? LossReason.RELEASED : this.loss;
	}

	/**
	 * End the lease, once. A loss takes effect immediately; a release waits for the
	 * transactions.
	 * @return whether this call ended it
	 */
	public synchronized boolean endWith(LossReason reason) {
		if (reason == LossReason.RELEASED) {
			return this.openTransactions == 0 && happens(Event.RELEASE);
		}
		return lose(Event.LOSE, reason);
	}

	private boolean lose(Event event, LossReason reason) {
		if (this.phase.allows(event)) {
			this.loss = reason;
		}
		return happens(event);
	}

	/**
	 * Release the lease for its owner, or let the last transaction that keeps it do so. A
	 * lock that was lost is not kept by the transaction in which it was acquired.
	 * @return what the owner has to do
	 */
	public synchronized Release release() {
		if (this.phase == LeasePhase.HANDED_OVER) {
			return Release.HANDED_OVER;
		}
		this.bound &= this.phase.isHeld();
		if (isInTransaction()) {
			happens(Event.DEFER);
			return Release.AT_END_OF_TRANSACTION;
		}
		return happens(Event.RELEASE) ? Release.NOW : Release.LOST;
	}

	/**
	 * End the lease for a successor that continues under the same acquisition. A
	 * transaction whose end is unknown prevents that, as an open transaction does. A
	 * request of the owner prevents it as well, even one that was answered.
	 * @return whether this call ended it
	 */
	public synchronized boolean endForSuccessor() {
		return canEndForSuccessor() && happens(Event.HAND_OVER);
	}

	/**
	 * Return whether the lease could be ended for a successor now. Another thread can
	 * still prevent it, so {@link #endForSuccessor()} decides.
	 */
	public synchronized boolean canEndForSuccessor() {
		return this.phase.allows(Event.HAND_OVER) && !this.changed && isClear();
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
		boolean held = this.phase.isHeld();
		this.changed |= held;
		return held;
	}

	/**
	 * Turn a release into a loss, because the store no longer had this acquisition as the
	 * holder. The lease had been lost before, and the loss had not been noticed.
	 * @return whether this call did so
	 */
	public synchronized boolean turnIntoLoss() {
		return lose(Event.NOT_FOUND, LossReason.TAKEN_OVER);
	}

	/**
	 * Mark the work under this lease as completed and its release as imminent.
	 */
	public synchronized void aboutToEnd() {
		happens(Event.ANNOUNCE);
	}

	public boolean isAboutToEnd() {
		LeasePhase now = this.phase;
		return now == LeasePhase.ENDING || now == LeasePhase.ENDING_DEFERRED;
	}

	/**
	 * Mark the handle of this lease as unreachable.
	 * @return whether this is the first call for a lease that has not ended
	 */
	public synchronized boolean abandon() {
		return happens(Event.ABANDON);
	}

	/**
	 * Return whether no transaction can be in progress under this lease.
	 */
	public synchronized boolean isClear() {
		return !isInTransaction() && this.retiredSlots == 0;
	}

	private boolean isInTransaction() {
		return this.openTransactions > 0 || this.bound;
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
		boolean held = this.phase.isHeld();
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
		return (this.phase.isHeld() && hasFreeSlot())
				? Integer.numberOfTrailingZeros(~(this.slotsInUse | this.retiredSlots)) : NO_SLOT;
	}

	synchronized boolean hasFreeSlot() {
		return (this.slotsInUse | this.retiredSlots) != ALL_SLOTS;
	}

	synchronized List<Integer> retiredSlots() {
		return IntStream.range(0, TransactionFence.SLOTS)
			.filter((slot) -> (this.retiredSlots & (1 << slot)) != 0)
			.boxed()
			.toList();
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
	 * End a transaction.
	 * @return whether a release waits for it, and for no other one
	 */
	synchronized boolean close() {
		this.openTransactions--;
		return endDeferral();
	}

	/**
	 * Bind the lease to the transaction in which it was acquired.
	 */
	synchronized void bind() {
		this.bound = true;
	}

	/**
	 * Return whether the lease was released by its owner, and the transaction in which it
	 * was acquired keeps it.
	 */
	synchronized boolean isKeptAfterRelease() {
		return this.bound && this.phase.allows(Event.TRANSACTIONS_ENDED);
	}

	/**
	 * Separate the lease from the transaction in which it was acquired.
	 * @return whether a release waits for it, and for no other one
	 */
	synchronized boolean unbind() {
		this.bound = false;
		return endDeferral();
	}

	private boolean endDeferral() {
		return !isInTransaction() && happens(Event.TRANSACTIONS_ENDED);
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

	/**
	 * What is left to do for an owner that releases its lease.
	 */
	public enum Release {

		/** The lease has ended now: release it to the store. */
		NOW,

		/** The end of the last transaction that keeps the lease will release it. */
		AT_END_OF_TRANSACTION,

		/** The lease has ended before, but the store may still have it. */
		LOST,

		/** A successor has the lease, so no request may be sent. */
		HANDED_OVER

	}

}
