package dev.dblock.core.lease;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import dev.dblock.LossReason;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;

/**
 * The end of a lease and the transactions under it. Both are stored in one word, so that
 * no transaction begins under a lease that is being released, and no lease is released
 * under an open transaction.
 */
public final class LeaseState {

	/** Indicates that there is no slot. */
	public static final int NO_SLOT = -1;

	private static final LossReason[] REASONS = LossReason.values();

	private static final AtomicIntegerFieldUpdater<LeaseState> WORD = AtomicIntegerFieldUpdater
		.newUpdater(LeaseState.class, "word");

	/** Zero, or the ordinal of the reason plus one. */
	private static final int END = 0b111;

	private static final int RELEASE_WANTED = 1 << 3;

	private static final int FIRST_IN_USE = 1 << 4;

	private static final int FIRST_RETIRED = 1 << (4 + TransactionFence.SLOTS);

	private static final int RETIRED = (FIRST_RETIRED << TransactionFence.SLOTS) - FIRST_RETIRED;

	private static final int ALL_SLOTS = (1 << TransactionFence.SLOTS) - 1;

	private static final int ONE_OPEN = 1 << (4 + 2 * TransactionFence.SLOTS);

	private volatile int word;

	public @Nullable LossReason end() {
		int end = this.word & END;
		return (end != 0) ? REASONS[end - 1] : null;
	}

	/**
	 * End the lease, once. A loss takes effect immediately; a release waits for the
	 * transactions.
	 * @return whether this call ended it
	 */
	public boolean endWith(LossReason reason) {
		while (true) {
			int now = this.word;
			if ((now & END) != 0 || reason == LossReason.RELEASED && now >= ONE_OPEN) {
				return false;
			}
			if (WORD.compareAndSet(this, now, now + numberOf(reason))) {
				return true;
			}
		}
	}

	/**
	 * End the lease for a successor that continues under the same acquisition. A
	 * transaction whose end is unknown prevents that, as an open transaction does.
	 * @return whether this call ended it
	 */
	public boolean endForSuccessor() {
		while (true) {
			int now = this.word;
			if ((now & END) != 0 || now >= FIRST_RETIRED) {
				return false;
			}
			if (WORD.compareAndSet(this, now, now + numberOf(LossReason.RELEASED))) {
				return true;
			}
		}
	}

	/**
	 * Turn a release into a loss.
	 * @return whether this call did so
	 */
	public boolean endedInVain() {
		int released = numberOf(LossReason.RELEASED);
		while (true) {
			int now = this.word;
			if ((now & END) != released) {
				return false;
			}
			if (WORD.compareAndSet(this, now, now - released + numberOf(LossReason.TAKEN_OVER))) {
				return true;
			}
		}
	}

	private static int numberOf(LossReason reason) {
		return reason.ordinal() + 1;
	}

	/**
	 * Return whether no transaction can be in progress under this lease.
	 */
	public boolean isClear() {
		return this.word < FIRST_RETIRED;
	}

	/**
	 * Return whether there is a transaction with an unknown outcome.
	 */
	public boolean isUnsettled() {
		return (this.word & RETIRED) != 0;
	}

	/**
	 * Begin a transaction.
	 * @return {@code false} when the lease has already ended
	 */
	public boolean open() {
		while (true) {
			int now = this.word;
			if ((now & END) != 0) {
				return false;
			}
			if (WORD.compareAndSet(this, now, now + ONE_OPEN)) {
				return true;
			}
		}
	}

	/**
	 * Choose a slot that is not in use by a transaction with a pending outcome.
	 * @return its number, or {@link #NO_SLOT} when there is none, or the lease has ended
	 */
	public int takeSlot() {
		return take(FIRST_IN_USE);
	}

	/**
	 * Choose a slot for transactions whose end is not reported. From then on, the lease
	 * cannot end without notice to the next holder.
	 * @return its number, or {@link #NO_SLOT} when there is none, or the lease has ended
	 */
	public int takeRetiredSlot() {
		return take(FIRST_RETIRED);
	}

	private int take(int first) {
		while (true) {
			int now = this.word;
			if ((now & END) != 0) {
				return NO_SLOT;
			}
			int slot = 0;
			while (slot < TransactionFence.SLOTS && (now & (FIRST_IN_USE | FIRST_RETIRED) << slot) != 0) {
				slot++;
			}
			if (slot == TransactionFence.SLOTS) {
				return NO_SLOT;
			}
			if (WORD.compareAndSet(this, now, now | first << slot)) {
				return slot;
			}
		}
	}

	public boolean hasFreeSlot() {
		int now = this.word;
		return ((now | now >> TransactionFence.SLOTS) / FIRST_IN_USE & ALL_SLOTS) != ALL_SLOTS;
	}

	public void freeSlot(int slot) {
		WORD.updateAndGet(this, (now) -> now & ~((FIRST_IN_USE | FIRST_RETIRED) << slot));
	}

	/**
	 * Retire a slot, because its transaction may still be committed and its end is not
	 * reported.
	 */
	public void retireSlot(int slot) {
		WORD.updateAndGet(this, (now) -> now & ~(FIRST_IN_USE << slot) | FIRST_RETIRED << slot);
	}

	/**
	 * Defer a release until the last transaction has ended.
	 * @return {@code false} when there is none
	 */
	public boolean releaseAtEnd() {
		while (true) {
			int now = this.word;
			if (now < ONE_OPEN) {
				return false;
			}
			if (WORD.compareAndSet(this, now, now | RELEASE_WANTED)) {
				return true;
			}
		}
	}

	/**
	 * End a transaction.
	 * @return whether it was the last one, and a release waits for it
	 */
	public boolean close() {
		while (true) {
			int now = this.word;
			int next = now - ONE_OPEN;
			boolean release = next < ONE_OPEN && (now & RELEASE_WANTED) != 0;
			if (WORD.compareAndSet(this, now, release ? next & ~RELEASE_WANTED : next)) {
				return release;
			}
		}
	}

}
