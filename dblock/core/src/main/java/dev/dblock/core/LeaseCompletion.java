package dev.dblock.core;

import java.util.function.Function;

import dev.dblock.LossReason;
import dev.dblock.claim.Claim;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.core.queue.Waiter;
import dev.dblock.event.LockListener;
import dev.dblock.observation.LockObserver;
import dev.dblock.support.Durations;
import dev.dblock.support.LockMdc;
import dev.dblock.transaction.LeaseState.Release;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a lease whose work is done: hands it over to the next waiting thread of this
 * process, or releases it.
 */
final class LeaseCompletion {

	private static final Logger logger = LoggerFactory.getLogger(LeaseCompletion.class);

	private final LeaseRegistry registry;

	private final LocalQueues queues;

	private final LeaseReleaser releaser;

	private final LeaseLosses losses;

	private final LockListener listeners;

	private final Function<Lease, LeasedLock> keep;

	private final LockClock clock;

	/**
	 * Create the end of leases.
	 * @param registry the leases that are held
	 * @param queues the waiting threads
	 * @param releaser releases a lease to the store
	 * @param losses reports a lease that was lost before
	 * @param listeners the listeners to notify
	 * @param keep starts to maintain the lease of a successor
	 * @param clock measures releases
	 */
	LeaseCompletion(LeaseRegistry registry, LocalQueues queues, LeaseReleaser releaser, LeaseLosses losses,
			LockListener listeners, Function<Lease, LeasedLock> keep, LockClock clock) {
		this.registry = registry;
		this.queues = queues;
		this.releaser = releaser;
		this.losses = losses;
		this.listeners = listeners;
		this.keep = keep;
		this.clock = clock;
	}

	/**
	 * Release the lock for its handle, or let the last transaction that keeps it do so
	 * when it ends.
	 * @return whether it was still held
	 */
	boolean release(LeaseHandle handle) {
		Lease lease = handle.lease();
		lease.owner().finish();
		this.registry.finished(lease);
		return releaseNow(handle);
	}

	/**
	 * Release the lock, whose handle is closed, unless a transaction keeps it.
	 * @return whether it was still held
	 */
	boolean releaseNow(LeaseHandle handle) {
		Lease lease = handle.lease();
		this.losses.endIfOver(lease);
		if (handOver(lease)) {
			lease.observedEnd(LockObserver.Outcome.HANDED_OVER, null);
			logRelease("Handed over", lease);
			this.listeners.onReleased(handle);
			return true;
		}
		return switch (lease.state().release()) {
			case NOW -> releaseToStore(handle);
			// The transaction may have ended, and released the lock, in the meantime
			case AT_END_OF_TRANSACTION -> !lease.isLost();
			case LOST -> {
				this.releaser.releaseInBackground(lease);
				yield false;
			}
			case HANDED_OVER -> false;
		};
	}

	private boolean releaseToStore(LeaseHandle handle) {
		Lease lease = handle.lease();
		Claim.News ended = lease.endedClaim();
		boolean held = true;
		try {
			held = sendRelease(lease);
			if (held) {
				logRelease("Released", lease);
			}
		}
		finally {
			if (held) {
				lease.observedEnd(LockObserver.Outcome.RELEASED, null);
				this.listeners.onReleased(handle);
				if (ended != null) {
					this.listeners.onNews(handle.name(), ended);
				}
			}
			else {
				this.losses.loseAtRelease(lease, handle);
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
			return queue.handOver(lease, this.keep);
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
			if (lease.state().release() != Release.AT_END_OF_TRANSACTION) {
				this.releaser.releaseInBackground(lease);
				lease.observedEnd(LockObserver.Outcome.RELEASED, ex);
				this.registry.remove(lease);
			}
		}
		finally {
			queue.ended(lease);
		}
	}

	private boolean sendRelease(Lease lease) {
		LocalQueue queue = releasing(lease);
		long start = this.clock.pauseNanos();
		try {
			this.registry.remove(lease);
			return this.releaser.release(lease);
		}
		finally {
			queue.released(this.clock.pauseNanos() - start);
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
	 * Release a grant that is not returned to any caller.
	 */
	void discard(Lease lease) {
		lease.holdTime().waiveMinHold();
		lease.owner().finish();
		this.registry.finished(lease);
		lease.state().endWith(LossReason.RELEASED);
		try {
			sendRelease(lease);
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
		lease.holdTime().waiveMinHold();
		lease.owner().finish();
		if (!handOver(lease)) {
			discard(lease);
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
							+ " lifetime of the application, call LockHandle.keepUntilShutdown()",
					lease.key().name(), lease.token(), Durations.readable(lease.trusted().leftAtStore())));
		}
	}

}
