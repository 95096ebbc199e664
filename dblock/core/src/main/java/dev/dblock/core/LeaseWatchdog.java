package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.dblock.LockOptions;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LockClock;
import dev.dblock.settings.LeaseTerms;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maintains all leases of the process on one thread: it triggers the renewal of leases
 * that are due, declares expired leases lost, and finds leases whose handle is
 * unreachable. It never calls the store itself, so a server that does not answer cannot
 * delay its reports. (The name comes from Redisson's watchdog, which renews each lock by
 * its own timer.)
 */
final class LeaseWatchdog {

	/**
	 * The longest interval between two comparisons of the wall clock with the monotonic
	 * clock.
	 */
	private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

	/**
	 * Leases of the same group differ in length by less than a factor of two.
	 */
	static final int MOST_GROUPS = magnitude(LeaseTerms.MAX_LEASE) - magnitude(LockOptions.SHORTEST_RENEWED_LEASE) + 1;

	private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final Logger logger = LoggerFactory.getLogger(LeaseWatchdog.class);

	private final LeaseRegistry registry;

	private final LeaseLosses losses;

	private final Consumer<Lease> abandoned;

	private final Supplier<LeaseRenewer> renewers;

	private final ScheduledExecutorService thread;

	private final Executor renewals;

	private final LockClock clock;

	private final Map<Integer, RenewalGroup> groups = new HashMap<>();

	private volatile @Nullable ScheduledFuture<?> nextTick;

	private volatile long nextTickNanos;

	private long tickNumber;

	private volatile boolean ticking;

	LeaseWatchdog(LeaseRegistry registry, LeaseLosses losses, Consumer<Lease> abandoned,
			Supplier<LeaseRenewer> renewers, ScheduledExecutorService thread, Executor renewals, LockClock clock) {
		this.registry = registry;
		this.losses = losses;
		this.abandoned = abandoned;
		this.renewers = renewers;
		this.thread = thread;
		this.renewals = renewals;
		this.clock = clock;
	}

	void watch(Lease lease) {
		this.registry.add(lease);
		tickWithin(pauseFor(lease));
	}

	/**
	 * Schedule the next check of all leases no later than after the given time.
	 */
	void tickWithin(long nanos) {
		long pause = Math.min(LONGEST_PAUSE_NANOS, Math.max(SHORTEST_PAUSE_NANOS, nanos));
		long at = this.clock.pauseNanos() + pause;
		if (this.nextTick == null || this.nextTickNanos - at > 0) {
			schedule(pause, at);
		}
	}

	/**
	 * Return by how much the next check is overdue, or how long the present one has been
	 * running.
	 */
	Duration delay() {
		long delay = (this.nextTick != null || this.ticking) ? this.clock.pauseNanos() - this.nextTickNanos : 0;
		return Duration.ofNanos(Math.max(0, delay));
	}

	private synchronized void schedule(long pause, long at) {
		ScheduledFuture<?> planned = this.nextTick;
		if (planned != null && this.nextTickNanos - at <= 0) {
			return;
		}
		long number = this.tickNumber + 1;
		try {
			ScheduledFuture<?> earlier = this.thread.schedule(() -> tickAndGoOn(number), pause, TimeUnit.NANOSECONDS);
			this.tickNumber = number;
			this.nextTickNanos = at;
			this.nextTick = earlier;
			if (planned != null) {
				planned.cancel(false);
			}
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The engine was closed: the watchdog ends");
		}
	}

	/**
	 * Run a tick and schedule the next one. A tick that was replaced when it had already
	 * begun is left to its replacement. If both continued, there would be two chains of
	 * ticks from then on.
	 */
	private void tickAndGoOn(long number) {
		synchronized (this) {
			if (number != this.tickNumber) {
				return;
			}
			this.nextTick = null;
			this.ticking = true;
		}
		long pause = SHORTEST_PAUSE_NANOS;
		try {
			pause = tick();
		}
		catch (RuntimeException | Error ex) {
			logger.error("The watchdog, which schedules the renewal of this process's locks, failed and continues. No"
					+ " lock is lost yet; if it keeps failing, leases end before they are renewed. This should"
					+ " never happen: please report it with its stack trace", ex);
			pause = LONGEST_PAUSE_NANOS / 10;
		}
		finally {
			this.ticking = false;
			if (!this.registry.isEmpty()) {
				tickWithin(pause);
			}
		}
	}

	/**
	 * Check all leases once.
	 * @return the time for which there is nothing to do, in nanoseconds
	 */
	long tick() {
		this.registry.forgetFinished();
		long pause = LONGEST_PAUSE_NANOS;
		for (Lease lease : this.registry.all()) {
			lease.trusted().observeClocks();
			if (lease.isOver()) {
				this.losses.expire(lease);
			}
			else {
				if (lease.handle() == null) {
					this.abandoned.accept(lease);
				}
				if (lease.isRenewing()) {
					groupOf(lease).consider(lease);
				}
				pause = Math.min(pause, lease.remainingNanos());
			}
		}
		for (RenewalGroup group : this.groups.values()) {
			pause = Math.min(pause, group.renewIfDue());
		}
		return pause;
	}

	private RenewalGroup groupOf(Lease lease) {
		return this.groups.computeIfAbsent(magnitude(lease.terms().lease()),
				(key) -> new RenewalGroup(this.renewers.get()));
	}

	private static int magnitude(Duration lease) {
		return Long.SIZE - Long.numberOfLeadingZeros(lease.toNanos());
	}

	private static long pauseFor(Lease lease) {
		long end = lease.remainingNanos();
		return lease.isRenewing() ? Math.min(end, lease.renewal().dueInNanos()) : end;
	}

	/**
	 * Leases of about the same length, which share their requests. Other leases do not
	 * share them, because the time limit of a request is that of its shortest lease, and
	 * a short lease could not wait for an answer as long as a long lease may.
	 */
	private final class RenewalGroup {

		private final LeaseRenewer renewer;

		private List<Lease> candidates = new ArrayList<>();

		private long dueInNanos = Long.MAX_VALUE;

		private volatile boolean busy;

		RenewalGroup(LeaseRenewer renewer) {
			this.renewer = renewer;
		}

		void consider(Lease lease) {
			if (this.busy) {
				return;
			}
			boolean unproven = lease.isUnproven();
			this.dueInNanos = Math.min(this.dueInNanos,
					unproven ? lease.renewal().retryDueInNanos() : lease.renewal().dueInNanos());
			if (unproven || lease.renewal().canJoin()) {
				this.candidates.add(lease);
			}
		}

		long renewIfDue() {
			List<Lease> due = this.candidates;
			long pause = this.dueInNanos;
			this.candidates = new ArrayList<>();
			this.dueInNanos = Long.MAX_VALUE;
			if (pause > 0) {
				return pause;
			}
			this.busy = true;
			try {
				LeaseWatchdog.this.renewals.execute(() -> renew(due));
				return LONGEST_PAUSE_NANOS;
			}
			catch (RejectedExecutionException ex) {
				this.busy = false;
				return LONGEST_PAUSE_NANOS / 100;
			}
			catch (RuntimeException | Error ex) {
				this.busy = false;
				throw ex;
			}
		}

		private void renew(List<Lease> due) {
			long pause = 0;
			try {
				this.renewer.renew(due);
			}
			catch (RuntimeException | Error ex) {
				pause = LONGEST_PAUSE_NANOS / 10;
				logger.error("The renewal of this process's locks failed with an error that does not come from MongoDB,"
						+ " and is retried until their leases end. This should never happen: please report it with"
						+ " its stack trace", ex);
			}
			finally {
				this.busy = false;
				tickWithin(pause);
			}
		}

	}

}
