package dev.dblock.core;

import java.util.function.Predicate;

import dev.dblock.LockHandle;
import dev.dblock.store.LockRepository;
import dev.dblock.store.TransactionFence;
import dev.dblock.store.TransactionFence.Outcome;
import dev.dblock.store.TransactionFence.Written;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fences transactions that an application manages itself, and of which nobody tells when
 * and how they end. So the lock is never handed over afterwards, and the next holder is
 * told to raise the fence, by which it waits for whatever is still under way.
 */
public final class FencedSessions {

	private static final Logger logger = LoggerFactory.getLogger(FencedSessions.class);

	private final Predicate<Object> isOpen;

	/**
	 * Fence transactions of sessions of one kind.
	 * @param isOpen whether a session is in a transaction
	 */
	public FencedSessions(Predicate<Object> isOpen) {
		this.isOpen = isOpen;
	}

	/**
	 * Fence the transaction of a session.
	 * @param session the session
	 * @param handle the lock
	 * @param fence what writes the fence into that transaction
	 * @throws dev.dblock.LockLostException when the lock is not held any more
	 * @throws IllegalArgumentException when the handle is none of this library's
	 * @throws IllegalStateException when four other sessions have transactions open under
	 * the lock
	 */
	public void fence(Object session, LockHandle handle, TransactionFence fence) {
		if (handle instanceof UnlockedHandle) {
			handle.ensureHeld();
			return;
		}
		if (!(handle instanceof LeaseHandle held)) {
			throw new IllegalArgumentException(
					"A transaction can only be fenced by a handle as dblock gives it out, but %s is a %s"
						.formatted(handle, handle.getClass().getName()));
		}
		held.ensureHeld();
		Lease lease = held.lease();
		SessionSlots slots = lease.sessionSlots();
		int slot = slots.slotOf(session);
		if (slot == LeaseState.NO_SLOT) {
			held.ensureHeld();
			throw FencedLease.tooMany(held);
		}
		Written written = fence.write(lease.key(), lease.token(), slot);
		if (written.outcome() == Outcome.OVERTAKEN) {
			throw FencedLease.overtaken(held);
		}
		RuntimeException failure = written.failure();
		if (failure != null) {
			throw failure;
		}
		makeRoom(slots, lease, fence);
	}

	/**
	 * The store that has a lock.
	 * @param handle the lock
	 * @return the store, or {@code null} when the handle is none of an engine with one
	 */
	public static @Nullable LockRepository storeOf(LockHandle handle) {
		return (handle instanceof LeaseHandle held) ? held.store() : null;
	}

	private void makeRoom(SessionSlots slots, Lease lease, TransactionFence fence) {
		try {
			slots.makeRoom(this.isOpen, (settled) -> fence.settle(lease.key(), lease.token(), settled));
		}
		catch (RuntimeException ex) {
			logger.debug("Earlier transactions under the lock '{}' may still be under way", lease.key().name(), ex);
		}
	}

}
