package dev.dblock.transaction;

import java.util.EnumMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The life of a lease: its phases, and the table of the events that lead from one to the
 * next. An event that the table does not have for a phase changes nothing.
 * {@link LeaseState} knows which events may happen. The picture in
 * {@code docs/architecture.md} shows the same table.
 */
enum LeasePhase {

	/** The work under the lock may continue. */
	HELD,

	/** The work has ended, and another thread is about to release the lock. */
	ENDING,

	/** Released by the owner, but a transaction keeps the lock until it ends. */
	DEFERRED,

	/** As {@link #DEFERRED}, after the end of the work was announced. */
	ENDING_DEFERRED,

	/**
	 * The handle is unreachable, so the lease is not renewed and will expire. A
	 * transaction that keeps the lock refers to the handle, so none does.
	 */
	ABANDONED,

	/** A thread of this process continues under the same acquisition. */
	HANDED_OVER,

	/** Released by the owner. */
	RELEASED,

	/** Lost. The owner may not know yet. */
	LOST,

	/** Lost and released by the owner, but a transaction is still open under it. */
	LOST_DEFERRED;

	static {
		// Before its end
		HELD.on(Event.ANNOUNCE, ENDING).on(Event.DEFER, DEFERRED).on(Event.ABANDON, ABANDONED);
		ENDING.on(Event.DEFER, ENDING_DEFERRED).on(Event.ABANDON, ABANDONED);
		DEFERRED.on(Event.ANNOUNCE, ENDING_DEFERRED).on(Event.TRANSACTIONS_ENDED, HELD).on(Event.ABANDON, ABANDONED);
		ENDING_DEFERRED.on(Event.TRANSACTIONS_ENDED, ENDING).on(Event.ABANDON, ABANDONED);
		// Its end
		HELD.on(Event.HAND_OVER, HANDED_OVER).on(Event.RELEASE, RELEASED).on(Event.LOSE, LOST);
		ENDING.on(Event.HAND_OVER, HANDED_OVER).on(Event.RELEASE, RELEASED).on(Event.LOSE, LOST);
		DEFERRED.on(Event.LOSE, LOST_DEFERRED);
		ENDING_DEFERRED.on(Event.LOSE, LOST_DEFERRED);
		ABANDONED.on(Event.HAND_OVER, HANDED_OVER).on(Event.RELEASE, RELEASED).on(Event.LOSE, LOST);
		// After its end
		RELEASED.on(Event.NOT_FOUND, LOST);
		LOST.on(Event.DEFER, LOST_DEFERRED);
		LOST_DEFERRED.on(Event.TRANSACTIONS_ENDED, LOST);
	}

	private final Map<Event, LeasePhase> next = new EnumMap<>(Event.class);

	private LeasePhase on(Event event, LeasePhase next) {
		this.next.put(event, next);
		return this;
	}

	/**
	 * Return the phase that follows, or {@code null} if the event changes nothing.
	 */
	@Nullable LeasePhase after(Event event) {
		return this.next.get(event);
	}

	boolean allows(Event event) {
		return this.next.containsKey(event);
	}

	/**
	 * Return whether the lease has not ended.
	 */
	boolean isHeld() {
		return allows(Event.LOSE);
	}

	/**
	 * What happens to a lease.
	 */
	enum Event {

		/** The work has ended, and another thread will release the lock soon. */
		ANNOUNCE,

		/** The owner releases the lock, but a transaction keeps it until it ends. */
		DEFER,

		/** The last such transaction has ended, so the release is due. */
		TRANSACTIONS_ENDED,

		/** The handle was found to be unreachable. */
		ABANDON,

		/** The lock is handed over inside the process. */
		HAND_OVER,

		/** The owner releases the lock. */
		RELEASE,

		/** The lease expires, is taken over, or ends with the application. */
		LOSE,

		/** The release did not find the acquisition in the store. */
		NOT_FOUND

	}

}
