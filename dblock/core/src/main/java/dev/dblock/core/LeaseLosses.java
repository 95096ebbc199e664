package dev.dblock.core;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.claim.Claim;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.event.LockListener;
import dev.dblock.observation.LockObserver;
import dev.dblock.support.CallThreads;
import dev.dblock.support.LockMdc;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports a lost lease to its handle, its thread if requested, the listeners and the log.
 * Reports a lease that was nearly lost to the listeners. It never blocks, because the
 * watchdog calls it, and no callback delays another.
 */
final class LeaseLosses {

	private static final Logger logger = LoggerFactory.getLogger(LeaseLosses.class);

	private static final int NAMES_IN_THE_LOG = 20;

	private final LeaseRegistry registry;

	private final LockListener listeners;

	private final Executor notifications;

	private final Executor callbacks;

	private final Statistics statistics = new Statistics();

	/**
	 * Create notifications of losses among the given leases.
	 * @param registry the leases
	 * @param listeners the listeners, which must not block their caller
	 * @param notifications starts the callbacks, in place of threads that must not wait
	 * even for a new thread
	 * @param callbacks runs each callback in its own thread
	 */
	LeaseLosses(LeaseRegistry registry, LockListener listeners, Executor notifications, Executor callbacks) {
		this.registry = registry;
		this.listeners = listeners;
		this.notifications = notifications;
		this.callbacks = callbacks;
	}

	Statistics statistics() {
		return this.statistics;
	}

	/**
	 * Report a lease that might have been lost before it was renewed.
	 * @param lease the lease
	 * @param left the time that was left of it
	 */
	void nearlyLost(Lease lease, Duration left) {
		this.statistics.renewedLate().increment();
		LeasedLock handle = lease.handle();
		if (handle != null) {
			notify(() -> this.listeners.onRenewedLate(handle, left));
		}
	}

	/**
	 * End a lease as lost, unless it has already ended.
	 * @param lease the lease
	 * @param reason the reason
	 * @param detail further details beyond the reason, for the log
	 */
	void lose(Lease lease, LossReason reason, String detail) {
		LeasedLock handle = lease.handle();
		if (lease.state().endWith(reason)) {
			reportLoss(lease, handle, reason, detail);
		}
	}

	/**
	 * Report the loss of a lease that the caller has ended.
	 * @param lease the lease
	 * @param handle its handle before it ended, so that the handle is not collected
	 * before the listeners are notified
	 * @param reason the reason
	 * @param detail further details beyond the reason, for the log
	 */
	void reportLoss(Lease lease, @Nullable LeasedLock handle, LossReason reason, String detail) {
		stop(lease);
		announce(lease, handle, reason, detail);
	}

	private void stop(Lease lease) {
		this.registry.moveToLost(lease);
		if (lease.terms().whenLost() == WhenLost.INTERRUPT) {
			lease.owner().interrupt();
		}
	}

	/**
	 * End the leases that are still held at shutdown. The log has one line, regardless of
	 * their number.
	 * @param held the leases
	 */
	void loseAtShutdown(Collection<Lease> held) {
		// Taken before the leases end, so that no handle is collected before it is
		// notified
		Map<Lease, @Nullable LeasedLock> handles = new HashMap<>();
		held.forEach((lease) -> handles.put(lease, lease.handle()));
		List<Lease> lost = held.stream().filter((lease) -> lease.state().endWith(LossReason.SHUTDOWN)).toList();
		if (lost.isEmpty()) {
			return;
		}
		lost.forEach(this::stop);
		String names = lost.stream()
			.limit(NAMES_IN_THE_LOG)
			.map(LeaseLosses::describe)
			.collect(Collectors.joining(", "));
		logger.warn(
				"The application is closing while its work still holds {} of its locks: {}{}. They are no longer"
						+ " renewed. A lock is released if its work ends before the application has closed; otherwise"
						+ " the work may continue, and the lock becomes free when its lease ends. Let the application"
						+ " wait for its work before it closes, for example with"
						+ " spring.task.execution.shutdown.await-termination",
				lost.size(), names, (lost.size() > NAMES_IN_THE_LOG) ? ", ..." : "");
		lost.forEach((lease) -> notify(lease, handles.get(lease), LossReason.SHUTDOWN));
	}

	private static String describe(Lease lease) {
		return "'%s' (fencing token %d, held for %s)".formatted(lease.key().name(), lease.token(), lease.heldFor());
	}

	/**
	 * Turn a release into a loss, because the store no longer had this acquisition as the
	 * holder.
	 * @param lease the lease
	 * @param handle its handle, which the caller may not refer to any more
	 */
	void loseAtRelease(Lease lease, LeasedLock handle) {
		if (lease.state().turnIntoLoss()) {
			announce(lease, handle, LossReason.TAKEN_OVER, "The loss was noticed when it was released");
		}
	}

	private void announce(Lease lease, @Nullable LeasedLock handle, LossReason reason, String detail) {
		LockMdc.log(lease.key().name(), lease.token(),
				() -> logger.warn("Lost the lock '{}' (fencing token {}) after holding it for {}: {}. {}",
						lease.key().name(), lease.token(), lease.heldFor(), reason.description(), detail));
		notify(lease, handle, reason);
	}

	private void notify(Lease lease, @Nullable LeasedLock handle, LossReason reason) {
		this.statistics.lost().count(reason);
		Claim.News ended = lease.endedClaim();
		notify(() -> {
			if (handle != null) {
				handle.runLostCallbacks(this.callbacks);
				this.listeners.onLost(handle, reason);
			}
			if (ended != null) {
				this.listeners.onNews(lease.key().name(), ended);
			}
			LockObserver.Outcome outcome = (handle == null) ? LockObserver.Outcome.ABANDONED
					: LockObserver.Outcome.LOST;
			if (lease.isObserved()) {
				CallThreads.execute(this.callbacks, () -> lease.observedEnd(outcome, lease.lost()));
			}
		});
	}

	private void notify(Runnable start) {
		CallThreads.execute(this.notifications, start);
	}

	/**
	 * End a lease whose time is over. The check that finds this first reports the loss,
	 * be it by the watchdog or not.
	 */
	void endIfOver(Lease lease) {
		if (lease.end() == null && lease.isOver()) {
			expire(lease);
		}
	}

	/**
	 * End a lease whose time is over by the clock of this process.
	 * @param lease the lease
	 */
	void expire(Lease lease) {
		LossReason reason = lease.holdTime().isBeyondMaxHold() ? LossReason.MAX_HOLD : LossReason.EXPIRED;
		lose(lease, reason, "Another process may acquire it from now on");
	}

	/**
	 * Counts failures of leases. Failures are only counted here, so that no renewal waits
	 * for a reader.
	 *
	 * @param lost leases that were lost, by the reason
	 * @param renewedLate leases that were renewed with less than a third of them left
	 * @param notRenewed leases that a failed request should have renewed
	 */
	record Statistics(Counts<LossReason> lost, LongAdder renewedLate, LongAdder notRenewed) {

		Statistics() {
			this(new Counts<>(LossReason.class), new LongAdder(), new LongAdder());
		}

	}

}
