package dev.dblock.transaction;

import java.util.function.Predicate;

import dev.dblock.LockHandle;
import dev.dblock.engine.HeldLock;
import dev.dblock.store.LockRepository;
import dev.dblock.store.TransactionFence;
import dev.dblock.store.TransactionFence.Outcome;
import dev.dblock.store.TransactionFence.Written;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fences transactions that the application manages itself. Their end and outcome are not
 * reported to this library. Therefore the lock is never handed over afterwards, and the
 * next holder is required to raise the fence, which waits for any transaction that is
 * still in progress.
 */
public final class FencedSessions {

	private static final Logger logger = LoggerFactory.getLogger(FencedSessions.class);

	private final Predicate<Object> isOpen;

	/**
	 * Create the fencing for sessions of one kind.
	 * @param isOpen whether a session is in a transaction
	 */
	public FencedSessions(Predicate<Object> isOpen) {
		this.isOpen = isOpen;
	}

	/**
	 * Fence the transaction of a session.
	 * @param session the session
	 * @param handle the lock
	 * @param fence writes the fence into that transaction
	 * @throws dev.dblock.LockLostException when the lock is no longer held
	 * @throws IllegalArgumentException when the handle was not created by this library
	 * @throws IllegalStateException when four other sessions have transactions open under
	 * the lock
	 */
	public void fence(Object session, LockHandle handle, TransactionFence fence) {
		if (HeldLock.isUnlocked(handle)) {
			handle.ensureHeld();
			return;
		}
		if (!(handle instanceof TransactionLock held)) {
			throw new IllegalArgumentException(
					"A transaction can only be fenced by a handle that dblock created, but %s is a %s".formatted(handle,
							handle.getClass().getName()));
		}
		held.ensureHeld();
		SessionSlots slots = held.state().sessionSlots();
		int slot = slots.slotOf(session);
		if (slot == LeaseState.NO_SLOT) {
			// Another transaction may be taking the last slot, or its request has failed
			makeRoom(slots, held, fence);
			slot = slots.slotOf(session);
		}
		if (slot == LeaseState.NO_SLOT) {
			held.ensureHeld();
			throw FencedLease.tooMany(held);
		}
		Written written = fence.write(held.key(), held.token(), slot);
		if (written.outcome() == Outcome.OVERTAKEN) {
			throw FencedLease.overtaken(held);
		}
		RuntimeException failure = written.failure();
		if (failure != null) {
			throw failure;
		}
		makeRoom(slots, held, fence);
	}

	/**
	 * Return the store of a lock.
	 * @param handle the lock
	 * @return the store, or {@code null} when the handle does not belong to an engine
	 * with a store
	 */
	public static @Nullable LockRepository storeOf(LockHandle handle) {
		return (handle instanceof TransactionLock held) ? held.store() : null;
	}

	private void makeRoom(SessionSlots slots, TransactionLock lock, TransactionFence fence) {
		try {
			slots.makeRoom(this.isOpen, (settled) -> fence.settle(lock.key(), lock.token(), settled));
		}
		catch (RuntimeException ex) {
			logger.debug("Earlier transactions under the lock '{}' may still be in progress", lock.name(), ex);
		}
	}

}
