package dev.dblock.core;

import java.time.Duration;
import java.util.Optional;

import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.lease.Renewal;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.event.LockListener;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.LockRepository;
import dev.dblock.store.StoreTimeoutException;
import dev.dblock.support.Durations;
import dev.dblock.transaction.LockTransactions;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Performs every operation on a lease from its grant until its work has ended, on behalf
 * of its handle.
 */
final class LeaseKeeper {

	private static final Runnable NOTHING = () -> {
	};

	private final LockRepository repository;

	private final LeaseWatchdog watchdog;

	private final LeaseRegistry registry;

	private final LeaseRenewer renewer;

	private final LeaseLosses losses;

	private final LeaseCompletion completion;

	private final LockTransactions transactions;

	private final LockClock clock;

	private final Duration timeout;

	LeaseKeeper(LockRepository repository, LeaseWatchdog watchdog, LeaseRegistry registry, LocalQueues queues,
			LeaseRenewer renewer, LeaseReleaser releaser, LeaseLosses losses, LockListener listeners,
			LockTransactions transactions, LockClock clock, Duration timeout) {
		this.repository = repository;
		this.watchdog = watchdog;
		this.registry = registry;
		this.renewer = renewer;
		this.losses = losses;
		this.completion = new LeaseCompletion(registry, queues, releaser, losses, listeners, this::keep, clock);
		this.transactions = transactions;
		this.clock = clock;
		this.timeout = timeout;
	}

	LeaseCompletion completion() {
		return this.completion;
	}

	LeaseHandle keep(Lease lease) {
		LeaseHandle handle = new LeaseHandle(lease, this);
		lease.attach(handle);
		try {
			this.watchdog.watch(lease);
		}
		catch (RuntimeException | Error ex) {
			this.completion.discard(lease);
			throw ex;
		}
		return handle;
	}

	/**
	 * Bind a new handle to the transaction of the thread that acquires it.
	 */
	void joinTransaction(LeaseHandle handle) {
		handle.keptBy(this.transactions.bind(handle));
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

	/**
	 * Separate a lock from the thread that acquired it.
	 */
	void leave(LeaseHandle handle) {
		this.registry.leave(handle.lease());
	}

	LockRepository store() {
		return this.repository;
	}

	/**
	 * Ensure that a lock under which no work was done is kept neither by a transaction
	 * nor by its minimum hold time.
	 */
	void waive(LeaseHandle handle) {
		LockTransactions.Binding transaction = handle.keptBy();
		if (transaction != null) {
			transaction.forget();
			handle.keptBy(null);
		}
		this.transactions.leave(handle);
		handle.lease().holdTime().waiveMinHold();
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
			throw new StoreTimeoutException(
					("It is unknown whether the lock '%s' is still held: this machine was suspended again while it"
							+ " asked MongoDB. Check again, or stop the work as if the lock were lost")
						.formatted(lease.key().name()));
		}
	}

	private void checkNotOver(Lease lease) {
		this.losses.endIfOver(lease);
		if (lease.end() != null) {
			throw lease.lost();
		}
	}

	/**
	 * Begin a request for the owner of a lease. If the lease is handed over at the same
	 * moment, one of the two is refused.
	 */
	private void beginChange(Lease lease) {
		checkNotOver(lease);
		if (!lease.state().beginChange()) {
			throw lease.lost();
		}
	}

	void renew(Lease lease) {
		beginChange(lease);
		this.renewer.renewNow(lease, this.timeout);
		checkNotOver(lease);
	}

	void extend(Lease lease, Duration atLeast, Duration minHold) {
		LeaseTerms.checkExtension(atLeast, minHold);
		beginChange(lease);
		LeaseDeadline proof = LeaseDeadline.from(this.clock, atLeast);
		lease.trusted().maybeExtended(proof);
		try {
			if (this.repository.extend(lease.key(), atLeast, this.timeout)) {
				lease.trusted().prove(proof);
				lease.holdTime().minHoldAtLeast(minHold);
			}
			else {
				refusedToExtend(lease);
			}
		}
		catch (RuntimeException | Error ex) {
			lease.trusted().maybeExtended(LeaseDeadline.from(this.clock, atLeast));
			throw ex;
		}
		checkNotOver(lease);
	}

	Optional<String> closeRequests(Lease lease, @Nullable String seen) {
		return this.repository.closeRequests(lease.key(), seen, this.timeout);
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
		beginChange(lease);
		lease.renewal().stop();
		LeaseDeadline exact = LeaseDeadline.from(this.clock, duration);
		lease.trusted().beginExactChange(exact);
		boolean confirmed = false;
		try {
			confirmed = this.repository.extendExactly(lease.key(), duration, this.timeout);
			if (!confirmed) {
				refusedToExtend(lease);
			}
		}
		catch (RuntimeException | Error ex) {
			lease.trusted().maybeExtended(LeaseDeadline.from(this.clock, duration));
			throw ex;
		}
		finally {
			lease.trusted().endExactChange(exact, confirmed);
			this.watchdog.tickWithin(lease.remainingNanos());
		}
		if (confirmed) {
			lease.holdTime().minHoldFor(minHold);
		}
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
		boolean renewed = autoRenew ? lease.isRenewing() : lease.renewal().isOnForOwner();
		Runnable end = (autoRenew && !lease.renewal().isOnForOwner()) ? renewForReentry(lease) : NOTHING;
		try {
			boolean shorter = atLeast.compareTo(lease.terms().lease()) <= 0;
			boolean enough = renewed && shorter || lease.remaining().compareTo(atLeast) >= 0;
			if (!enough && !lease.holdTime().isBeyondMaxHold()) {
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
		lease.renewal().startFor(renewer);
		this.watchdog.tickWithin(0);
		return () -> lease.renewal().stopFor(renewer);
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
		lease.renewal().startFor(Renewal.OWNER);
		this.watchdog.tickWithin(0);
	}

}
