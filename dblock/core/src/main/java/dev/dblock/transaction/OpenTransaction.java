package dev.dblock.transaction;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.store.TransactionFence;
import dev.dblock.store.TransactionFence.Written;
import dev.dblock.support.LossInterrupts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction that this process has begun, and the locks that it runs under: those that
 * its thread held when it began, and those that were acquired inside it. Internal: can
 * change in any release.
 */
public final class OpenTransaction {

	private static final Logger logger = LoggerFactory.getLogger(OpenTransaction.class);

	private final Fencing fencing;

	private final boolean readOnly;

	private final @Nullable OpenTransaction outer;

	/** A parallel part of a sequence may join while another one reads. */
	private final List<FencedLease> leases = new CopyOnWriteArrayList<>();

	private @Nullable RuntimeException failure;

	private boolean checked;

	private boolean committing;

	private volatile boolean ended;

	private LossInterrupts.@Nullable Aside interrupt;

	public OpenTransaction(Fencing fencing, boolean readOnly, @Nullable OpenTransaction outer) {
		this.fencing = fencing;
		this.readOnly = readOnly;
		this.outer = outer;
	}

	@Nullable OpenTransaction outer() {
		return this.outer;
	}

	boolean isEnded() {
		return this.ended;
	}

	/**
	 * Return the handle of a lock whose release was requested, but is deferred until the
	 * end.
	 */
	public @Nullable TransactionLock kept(Object engine, String name) {
		for (FencedLease lease : this.leases) {
			if (lease.isKept(engine, name)) {
				return lease.handle();
			}
		}
		return null;
	}

	/**
	 * Add a lock that this transaction runs under. A failure is kept for the commit,
	 * because no exception may be thrown when a transaction has just begun.
	 */
	public void join(TransactionLock handle) {
		try {
			FencedLease known = find(handle);
			if (known != null) {
				known.joinAgain();
				return;
			}
			TransactionFence fence = this.readOnly ? null : this.fencing.fenceOf(handle);
			this.leases.add(FencedLease.begin(handle, fence));
		}
		catch (RuntimeException ex) {
			logger.debug("A transaction under the lock '{}' will not be committed", handle.name(), ex);
			this.failure = ex;
		}
	}

	/**
	 * Return whether this transaction itself writes the fence of a lock to the place
	 * where the other fence of that lock would be written.
	 */
	public boolean isFencedBy(TransactionLock handle, TransactionFence other) {
		FencedLease lease = find(handle);
		return lease != null && lease.isFencedLike(other);
	}

	private @Nullable FencedLease find(TransactionLock handle) {
		for (FencedLease lease : this.leases) {
			if (lease.isOf(handle)) {
				return lease;
			}
		}
		return null;
	}

	/**
	 * Continue this transaction without a lock, unless other work in it has joined the
	 * lock as well.
	 */
	public void leave(TransactionLock handle) {
		FencedLease lease = find(handle);
		if (lease != null && lease.leave()) {
			this.leases.remove(lease);
			lease.end();
		}
	}

	/**
	 * Return whether the commit does not depend on the lock and can no longer be made to.
	 */
	public boolean isTooLateFor(TransactionLock handle) {
		return this.checked && find(handle) == null;
	}

	/**
	 * Return whether no lock could be released by the end of this transaction.
	 */
	public boolean standsAlone() {
		return this.ended || this.leases.isEmpty();
	}

	public boolean asksStoreBeforeCommit() {
		return !this.readOnly && this.leases.stream().anyMatch(FencedLease::asksStore);
	}

	public boolean isPrepared() {
		return this.leases.stream().allMatch(FencedLease::isPrepared);
	}

	/**
	 * Ensure that the fences can be written.
	 */
	public void prepare() {
		this.leases.forEach(FencedLease::prepare);
	}

	/**
	 * Put an interrupt of this thread aside until a transaction under a lock is
	 * completed. MongoDB's driver would not send the roll-back, without an error, and the
	 * next holder would wait until the server ends the transaction.
	 */
	void beforeCompletion() {
		if (!standsAlone()) {
			this.interrupt = LossInterrupts.putAside();
		}
	}

	/**
	 * Restore the interrupt of this thread.
	 */
	void completed() {
		if (this.interrupt != null) {
			this.interrupt.close();
		}
	}

	/**
	 * Check the locks and write the fences at the last moment before the commit. Any
	 * exception makes Spring roll back.
	 */
	public void beforeCommit() {
		try {
			checkAndWrite();
		}
		finally {
			// A loss that was just found has interrupted this thread
			if (this.interrupt != null) {
				this.interrupt.take();
			}
		}
		this.committing = true;
	}

	private void checkAndWrite() {
		if (this.failure != null) {
			throw this.failure;
		}
		if (!this.readOnly) {
			this.checked = true;
			this.leases.forEach(FencedLease::check);
			this.leases.forEach(this::write);
		}
	}

	/**
	 * Return whether all checks have passed, so that the commit is about to be attempted.
	 */
	boolean isCommitting() {
		return this.committing;
	}

	private void write(FencedLease lease) {
		Written written = lease.write();
		switch (written.outcome()) {
			case DONE -> {
				return;
			}
			case OVERTAKEN -> throw lease.lose();
			case ENDED -> this.leases.forEach(FencedLease::settle);
			case UNKNOWN -> logger.debug("The fence of a transaction was sent, but not answered", written.failure());
		}
		throw (written.failure() != null) ? written.failure()
				: new IllegalStateException(
						("The fence of the lock '%s' (fencing token %d) was not written, for an unknown reason. The"
								+ " transaction is rolled back; retry it")
							.formatted(lease.handle().name(), lease.handle().token()));
	}

	/**
	 * Record that the commit was attempted.
	 * @param failure the failure of the commit, if it failed
	 */
	public void committed(@Nullable Throwable failure) {
		if (failure == null) {
			this.leases.forEach(FencedLease::settle);
		}
		else {
			this.leases.forEach((lease) -> lease.settleUnlessOpen(failure));
		}
		end();
	}

	/**
	 * End the transaction after a roll-back, or after a commit attempt with an unknown
	 * outcome. If the fence was written before, the store determines whether the
	 * transaction is over.
	 */
	public void endInDoubt() {
		if (!this.ended) {
			this.leases.forEach(FencedLease::settleByStore);
			end();
		}
	}

	/**
	 * End the transaction after a roll-back, or without a commit. If the fence was
	 * written before, it is unknown whether the store knows of the roll-back.
	 */
	void end() {
		if (!this.ended) {
			this.ended = true;
			this.leases.forEach(FencedLease::end);
		}
	}

	/**
	 * Makes a transaction depend on its locks.
	 */
	@FunctionalInterface
	public interface Fencing {

		@Nullable TransactionFence fenceOf(TransactionLock handle);

	}

}
