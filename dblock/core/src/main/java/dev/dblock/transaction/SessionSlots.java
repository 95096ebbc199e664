package dev.dblock.transaction;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;

import dev.dblock.store.TransactionFence;

/**
 * Assigns the slots of one lock to sessions of the application. A session has one
 * transaction at a time, so it keeps its slot. The end of its transactions is not
 * reported, so the slot is retired from the beginning.
 */
final class SessionSlots {

	/**
	 * A monitor would pin a virtual thread to its carrier during a request to the store.
	 */
	private final Lock lock = new ReentrantLock();

	private final LeaseState state;

	private final List<SessionSlot> slots = new ArrayList<>(TransactionFence.SLOTS);

	SessionSlots(LeaseState state) {
		this.state = state;
	}

	/**
	 * Return the slot of a session.
	 * @return the slot, or {@link LeaseState#NO_SLOT} when there is none, or the lease
	 * has ended
	 */
	int slotOf(Object session) {
		this.lock.lock();
		try {
			for (SessionSlot known : this.slots) {
				if (known.session().get() == session) {
					return known.slot();
				}
			}
			int slot = this.state.takeRetiredSlot();
			if (slot != LeaseState.NO_SLOT) {
				this.slots.add(new SessionSlot(new WeakReference<>(session), slot));
			}
			return slot;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * When the last slot is in use, free the slots whose transactions are over, for
	 * transactions that begin from now on. Those without a session are of transactions
	 * whose outcome is unknown.
	 * @param isOpen whether a session is in a transaction
	 * @param settle waits until no earlier transaction of the given slots can be
	 * committed
	 */
	void makeRoom(Predicate<Object> isOpen, Consumer<List<Integer>> settle) {
		this.lock.lock();
		try {
			List<Integer> over = new ArrayList<>(this.state.hasFreeSlot() ? List.of() : this.state.retiredSlots());
			this.slots.stream()
				.filter((known) -> known.isOpen(isOpen))
				.forEach((known) -> over.remove(Integer.valueOf(known.slot())));
			if (!over.isEmpty()) {
				settle.accept(over);
				this.slots.removeIf((known) -> over.contains(known.slot()));
				over.forEach(this.state::freeSlot);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private record SessionSlot(WeakReference<Object> session, int slot) {

		boolean isOpen(Predicate<Object> test) {
			Object session = this.session.get();
			return session != null && test.test(session);
		}

	}

}
