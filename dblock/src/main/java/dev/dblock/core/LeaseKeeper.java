package dev.dblock.core;

import java.time.Duration;

import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.core.queue.Waiter;
import dev.dblock.event.LockListener;
import dev.dblock.job.JobRun;
import dev.dblock.observation.LockOutcome;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.LockRepository;
import dev.dblock.support.Durations;
import dev.dblock.support.LockMdc;
import dev.dblock.transaction.KeptByTransaction;
import dev.dblock.transaction.LockTransactions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Performs every operation on a lease between its grant and its end, on behalf of its
 * handle.
 */
final class LeaseKeeper {

	private static final Logger logger = LoggerFactory.getLogger(LeaseKeeper.class);

	private static final Runnable NOTHING = () -> {
	};

	private final LockRepository repository;

	private final LeaseWatchdog watchdog;

	private final LeaseRegistry registry;

	private final LocalQueues queues;

	private final LeaseRenewer renewer;

	private final LeaseReleaser releaser;

	private final LeaseLosses losses;

	private final LockListener listeners;

	private final LockTransactions transactions;

	private final LockClock clock;

	private final Duration timeout;

	LeaseKeeper(LockRepository repository, LeaseWatchdog watchdog, LeaseRegistry registry, LocalQueues queues,
			LeaseRenewer renewer, LeaseReleaser releaser, LeaseLosses losses, LockListener listeners,
			LockTransactions transactions, LockClock clock, Duration timeout) {
		this.repository = repository;
		this.watchdog = watchdog;
		this.registry = registry;
		this.queues = queues;
		this.renewer = renewer;
		this.releaser = releaser;
		this.losses = losses;
		this.listeners = listeners;
		this.transactions = transactions;
		this.clock = clock;
		this.timeout = timeout;
	}

	LeaseHandle keep(Lease lease) {
		LeaseHandle handle = new LeaseHandle(lease, this);
		lease.attach(handle);
		try {
			this.watchdog.watch(lease);
		}
		catch (RuntimeException | Error ex) {
			discard(lease);
			throw ex;
		}
		return handle;
	}

	/**
	 * Release a grant that is not returned to any caller.
	 */
	void discard(Lease lease) {
		lease.waiveMinHold();
		lease.owner().finish();
		this.registry.finished(lease);
		lease.endWith(LossReason.RELEASED);
		try {
			giveBack(lease);
		}
		catch (RuntimeException ex) {
			logger.debug("The lock '{}' could not be released; it becomes free when its lease ends", lease.key().name(),
					ex);
		}
	}

	/**
	 * Hand a lock over to the next waiter, because the thread that received it no longer
	 * wants it.
	 */
	void passOn(Lease lease) {
		lease.waiveMinHold();
		lease.owner().finish();
		if (!handOver(lease)) {
			discard(lease);
		}
	}

	/**
	 * Bind a new handle to the transaction of the thread that acquires it.
	 */
	void joinTransaction(LeaseHandle handle) {
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			handle.keptBy(KeptByTransaction.join(handle));
			this.transactions.join(handle);
		}
	}

	/**
	 * Bind a lock that a transaction keeps to the current transaction, because work
	 * begins under it again. The current transaction may be nested in the one that keeps
	 * the lock.
	 */
	void attach(LeaseHandle handle) {
		this.registry.attach(handle.lease());
		if (handle.isClosed() && TransactionSynchronizationManager.isActualTransactionActive()) {
			this.transactions.join(handle);
		}
	}

	void detach(LeaseHandle handle) {
		this.registry.detach(handle.lease());
	}

	LockRepository store() {
		return this.repository;
	}

	/**
	 * Ensure that a lock under which no work was done is kept neither by a transaction
	 * nor by its minimum hold time.
	 */
	void waive(LeaseHandle handle) {
		KeptByTransaction transaction = handle.keptBy();
		if (transaction != null) {
			transaction.forget();
			handle.keptBy(null);
		}
		this.transactions.leave(handle);
		handle.lease().waiveMinHold();
	}

	LockLostException lose(Lease lease, LossReason reason, String detail) {
		this.losses.lose(lease, reason, detail);
		return lease.lost();
	}

	void ensureHeld(Lease lease) {
		checkNotOver(lease);
		if (lease.isUnproven()) {
			renew(lease);
			requireProven(lease);
		}
	}

	/**
	 * Ensure that the lease is proven. If the machine is suspended again during the
	 * request, the answer proves nothing.
	 */
	private void requireProven(Lease lease) {
		if (lease.isUnproven()) {
			renew(lease);
		}
		if (lease.isUnproven()) {
			throw new QueryTimeoutException(
					("It is unknown whether the lock '%s' is still held: this machine was suspended again while it"
							+ " asked MongoDB. Check again, or stop the work as if the lock were lost")
						.formatted(lease.key().name()));
		}
	}

	private void checkNotOver(Lease lease) {
		endIfOver(lease);
		if (lease.end() != null) {
			throw lease.lost();
		}
	}

	/**
	 * End a lease whose time is over. The check that finds this first reports the loss,
	 * be it by the watchdog or not.
	 */
	private void endIfOver(Lease lease) {
		if (lease.end() == null && lease.isOver()) {
			this.losses.expire(lease);
		}
	}

	void renew(Lease lease) {
		checkNotOver(lease);
		this.renewer.renewNow(lease, this.timeout);
		checkNotOver(lease);
	}

	void extend(Lease lease, Duration atLeast, Duration minHold) {
		LeaseTerms.checkExtension(atLeast, minHold);
		checkNotOver(lease);
		LeaseDeadline proof = LeaseDeadline.from(this.clock, atLeast);
		lease.maybeExtended(proof);
		try {
			if (this.repository.extend(lease.key(), atLeast, this.timeout)) {
				lease.prove(proof);
				if (minHold.toNanos() > lease.minHoldLeftNanos()) {
					lease.minHoldFor(minHold);
				}
			}
			else {
				refusedToExtend(lease);
			}
		}
		catch (RuntimeException | Error ex) {
			lease.maybeExtended(LeaseDeadline.from(this.clock, atLeast));
			throw ex;
		}
		checkNotOver(lease);
	}

	private void refusedToExtend(Lease lease) {
		LossReason reason = (lease.isOver() || lease.isUnproven()) ? LossReason.EXPIRED : LossReason.TAKEN_OVER;
		this.losses.lose(lease, reason, "The server refused to extend it");
	}

	/**
	 * Let the lease end exactly after the given time. It is trusted until the earlier of
	 * both ends from before the request is sent until it is answered, and if it fails.
	 */
	void extendExactly(Lease lease, Duration duration, Duration minHold) {
		LeaseTerms.checkExtension(duration, minHold);
		ensureHeld(lease);
		lease.stopRenewal();
		LeaseDeadline exact = LeaseDeadline.from(this.clock, duration);
		lease.beginExactChange(exact);
		boolean confirmed = false;
		try {
			confirmed = this.repository.extendExactly(lease.key(), duration, this.timeout);
			if (!confirmed) {
				refusedToExtend(lease);
			}
		}
		catch (RuntimeException | Error ex) {
			lease.maybeExtended(LeaseDeadline.from(this.clock, duration));
			throw ex;
		}
		finally {
			lease.endExactChange(exact, confirmed);
			this.watchdog.tickWithin(lease.remainingNanos());
		}
		lease.minHoldFor(minHold);
		checkNotOver(lease);
	}

	/**
	 * Begin work that re-enters the lock. From now on, the lease lasts at least as long
	 * as that work would have acquired it for. If the work asks for renewal, the lease is
	 * renewed while the work continues. If a transaction keeps the lock, the work ends
	 * with the transaction. After the maximum hold time, nothing prolongs the lease.
	 * @param handle the handle of the lock
	 * @param atLeast the lease for which the work would have acquired it
	 * @param autoRenew whether the lease would have been renewed automatically
	 * @return ends the renewal for this work
	 */
	Runnable reenter(LeaseHandle handle, Duration atLeast, boolean autoRenew) {
		Lease lease = handle.lease();
		ensureHeld(lease);
		if (autoRenew) {
			requireRenewable(lease);
		}
		boolean renewed = autoRenew ? lease.isRenewing() : lease.isRenewingForOwner();
		Runnable end = (autoRenew && !lease.isRenewingForOwner()) ? renewForReentry(lease) : NOTHING;
		try {
			boolean shorter = atLeast.compareTo(lease.terms().lease()) <= 0;
			boolean enough = renewed && shorter || lease.remaining().compareTo(atLeast) >= 0;
			if (!enough && !lease.isBeyondMaxHold()) {
				if (shorter) {
					renew(lease);
				}
				else {
					extend(lease, atLeast, Duration.ZERO);
				}
			}
		}
		catch (RuntimeException | Error ex) {
			end.run();
			throw ex;
		}
		return handle.isClosed() ? NOTHING : end;
	}

	private Runnable renewForReentry(Lease lease) {
		Object renewer = new Object();
		lease.renewFor(renewer);
		this.watchdog.tickWithin(0);
		return () -> lease.stopRenewalFor(renewer);
	}

	private static void requireRenewable(Lease lease) {
		Duration length = lease.terms().lease();
		if (length.compareTo(LockOptions.SHORTEST_RENEWED_LEASE) < 0) {
			throw new IllegalStateException(
					("The lock '%s' was acquired for a lease of %s, which is too short to be renewed automatically. Acquire"
							+ " it for %s or longer")
						.formatted(lease.key().name(), Durations.written(length),
								Durations.written(LockOptions.SHORTEST_RENEWED_LEASE)));
		}
	}

	void startRenewal(Lease lease) {
		requireRenewable(lease);
		checkNotOver(lease);
		lease.renewFor(Lease.OWNER);
		this.watchdog.tickWithin(0);
	}

	/**
	 * Release the lock for its handle, at the end of the transaction that keeps it.
	 * @return whether it was still held
	 */
	boolean release(LeaseHandle handle) {
		Lease lease = handle.lease();
		lease.owner().finish();
		this.registry.finished(lease);
		endIfOver(lease);
		KeptByTransaction transaction = handle.keptBy();
		if (transaction != null && lease.end() == null && transaction.releaseAtEnd()) {
			return true;
		}
		return releaseNow(handle);
	}

	/**
	 * Release the lock, or let the last transaction under it do so when it ends.
	 * @return whether it was still held
	 */
	boolean releaseNow(LeaseHandle handle) {
		Lease lease = handle.lease();
		endIfOver(lease);
		if (handOver(lease)) {
			lease.observedEnd(LockOutcome.HANDED_OVER, null);
			logRelease("Handed over", lease);
			this.listeners.onReleased(handle);
			return true;
		}
		while (!lease.endWith(LossReason.RELEASED)) {
			if (lease.state().releaseAtEnd()) {
				return lease.end() == null;
			}
			if (lease.end() != null) {
				this.releaser.releaseInBackground(lease);
				return false;
			}
		}
		JobRun ended = lease.endedRun();
		boolean held = true;
		try {
			held = giveBack(lease);
			if (held) {
				logRelease("Released", lease);
			}
		}
		finally {
			if (held) {
				lease.observedEnd(LockOutcome.RELEASED, null);
				this.listeners.onReleased(handle);
				if (ended != null) {
					this.listeners.onRunEnded(handle.name(), ended);
				}
			}
			else {
				this.losses.loseAtRelease(lease);
			}
		}
		return held;
	}

	private static void logRelease(String what, Lease lease) {
		if (logger.isDebugEnabled()) {
			LockMdc.log(lease.key().name(), lease.token(),
					() -> logger.debug("{} the lock '{}' (fencing token {}) after holding it for {}", what,
							lease.key().name(), lease.token(), lease.heldFor()));
		}
	}

	/**
	 * Hand the lease over to the next waiting thread of this process, without a request.
	 * The queue exists as long as it has this lease; without a queue there is no
	 * successor.
	 */
	private boolean handOver(Lease lease) {
		LocalQueue queue = this.queues.find(lease.key().name());
		if (queue == null) {
			return false;
		}
		Waiter next = handOver(lease, queue);
		if (next != null) {
			next.wake();
		}
		return next != null;
	}

	private @Nullable Waiter handOver(Lease lease, LocalQueue queue) {
		try {
			return queue.handOver(lease, this::keep);
		}
		catch (RuntimeException | Error ex) {
			breakOff(lease, queue, ex);
			throw ex;
		}
	}

	/**
	 * Release the lease in the background after a failed hand-over. The store is notified
	 * first, because the failure may occur again.
	 */
	private void breakOff(Lease lease, LocalQueue queue, Throwable ex) {
		try {
			if (lease.endWith(LossReason.RELEASED) || lease.end() != null) {
				this.releaser.releaseInBackground(lease);
				lease.observedEnd(LockOutcome.RELEASED, ex);
				this.registry.remove(lease);
			}
		}
		finally {
			queue.ended(lease);
		}
	}

	private boolean giveBack(Lease lease) {
		LocalQueue queue = releasing(lease);
		long start = System.nanoTime();
		try {
			this.registry.remove(lease);
			return this.releaser.release(lease);
		}
		finally {
			queue.released(System.nanoTime() - start);
		}
	}

	/**
	 * Register a release in the queue. A lease that is not released must not be renewed
	 * either.
	 */
	private LocalQueue releasing(Lease lease) {
		try {
			return this.queues.releasing(lease.key().name());
		}
		catch (RuntimeException | Error ex) {
			this.registry.remove(lease);
			throw ex;
		}
	}

	/**
	 * Let a lease expire whose handle is unreachable and can never release it. It is not
	 * released earlier, because its work may continue without the handle.
	 */
	static void abandon(Lease lease) {
		if (lease.abandon()) {
			LockMdc.log(lease.key().name(), lease.token(), () -> logger.warn(
					"The lock '{}' (fencing token {}) was never released, and its handle is no longer referenced. Its"
							+ " work may continue, so it is not released now, but it is no longer renewed and becomes"
							+ " free when its lease ends, in {}. Close handles in a try block; to hold a lock for the"
							+ " lifetime of the application, keep its handle in a field",
					lease.key().name(), lease.token(), Durations.readable(lease.leftAtStore())));
		}
	}

}
