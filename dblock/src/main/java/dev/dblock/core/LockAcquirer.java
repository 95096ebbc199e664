package dev.dblock.core;

import java.time.Duration;

import dev.dblock.Durations;
import dev.dblock.LockAttempt;
import dev.dblock.LockGrant;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.job.JobRefusal;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

/**
 * Gets a lock for a thread: from the store, from another thread of this process, or not
 * at all.
 */
final class LockAcquirer {

	/**
	 * The last request of a waiter may take this long even if less of the wait is left:
	 * with less, a server that is only busy could never answer it. The waiters behind it
	 * wait as long for that answer, unless they know of an earlier one.
	 */
	private static final Duration SHORTEST_REQUEST = Duration.ofSeconds(1);

	/**
	 * A request that was sent to a server which is gone keeps a waiter from asking the
	 * next one. So it is cut short after this time, and after twice as long with each
	 * timeout in a row.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(1250);

	private static final int MOST_DOUBLINGS = 20;

	private final LockRequests requests;

	private final EngineSettings settings;

	private final LocalQueues queues;

	private final ReleaseSignals signals;

	private final LeaseKeeper keeper;

	private final PollPause pauses;

	private final WaitStatistics statistics;

	private final LockClock clock;

	private volatile boolean waitersRefused;

	private volatile boolean closed;

	LockAcquirer(LockRequests requests, EngineSettings settings, LocalQueues queues, ReleaseSignals signals,
			LeaseKeeper keeper, WaitStatistics statistics, LockClock clock) {
		this.requests = requests;
		this.settings = settings;
		this.queues = queues;
		this.signals = signals;
		this.keeper = keeper;
		this.pauses = new PollPause(settings.poll());
		this.statistics = statistics;
		this.clock = clock;
	}

	/**
	 * Get a lock.
	 * @param name the full name of the lock
	 * @param terms how to wait for it and hold it
	 * @param acquisition is told when the thread has to wait
	 * @return the grant or the refusal
	 */
	LockAttempt acquire(String name, LeaseTerms terms, Acquisition acquisition) {
		if (terms.firing() != null) {
			return acquireRun(name, terms, acquisition);
		}
		return terms.waitUpTo().isZero() ? tryOnce(name, terms) : new Wait(name, terms, acquisition).run();
	}

	/**
	 * Get a lock for a planned time. Only the store knows whether that is due, so it is
	 * asked even while this process has the lock; and only if something else has the lock
	 * is there anything to wait for.
	 */
	private LockAttempt acquireRun(String name, LeaseTerms terms, Acquisition acquisition) {
		refuseIfUnwanted(name);
		Duration within = (terms.firing() != null) ? terms.firing().answerWithin() : null;
		LocalQueue queue = this.queues.enter(name);
		try {
			Duration most = Durations.shorter(this.settings.timeout(), terms.lease());
			most = (within != null) ? Durations.shorter(most, within) : most;
			boolean waits = !terms.waitUpTo().isZero();
			Duration patience = (terms.waitUpTo().compareTo(SHORTEST_REQUEST) > 0) ? terms.waitUpTo()
					: SHORTEST_REQUEST;
			Outcome outcome = this.requests.ask(queue, null, terms, waits ? Durations.shorter(most, patience) : most);
			LeaseHandle handle = outcome.handle();
			if (handle != null) {
				return accept(handle);
			}
			if (!waits || outcome.isFinal()) {
				return outcome.refusal(name, Duration.ZERO);
			}
		}
		finally {
			queue.leave();
		}
		return new Wait(name, terms, acquisition).run();
	}

	private LockAttempt tryOnce(String name, LeaseTerms terms) {
		refuseIfUnwanted(name);
		LockRefusal refusal = refuseHere(name);
		if (refusal != null) {
			return refusal;
		}
		LocalQueue queue = this.queues.enter(name);
		try {
			Outcome outcome = this.requests.tryOnce(queue, terms,
					Durations.shorter(this.settings.timeout(), terms.lease()));
			LeaseHandle handle = outcome.handle();
			return (handle != null) ? accept(handle) : outcome.refusal(name, Duration.ZERO);
		}
		finally {
			queue.leave();
		}
	}

	/**
	 * Refuse without a request what this process has. A request that is sent while it is
	 * given back, or while those who wait here let other processes go first or are about
	 * to ask, would come before all of them: others only hear of a release when a
	 * majority has it.
	 */
	private @Nullable LockRefusal refuseHere(String name) {
		LocalQueue queue = this.queues.find(name);
		if (queue == null) {
			return null;
		}
		Lease mine = queue.present();
		if (mine != null) {
			return new LockRefusal(name, mine.describe(this.settings.acquirer()), Duration.ZERO);
		}
		return queue.letsOthersGoFirst() ? Outcome.OTHERS_FIRST.refusal(name, Duration.ZERO) : null;
	}

	private LockAttempt accept(LeaseHandle handle) {
		boolean accepted = false;
		try {
			if (this.closed) {
				throw new LockShutdownException(handle.name());
			}
			this.keeper.joinTransaction(handle);
			accepted = true;
			return new LockGrant(handle);
		}
		finally {
			if (!accepted) {
				this.keeper.passOn(handle.lease());
			}
		}
	}

	private void refuseIfUnwanted(String name) {
		if (this.closed) {
			throw new LockShutdownException(name);
		}
		if (Thread.currentThread().isInterrupted()) {
			throw new LockInterruptedException(name, new InterruptedException());
		}
	}

	/**
	 * Let nobody wait any more. Who needs not wait is still served.
	 */
	void refuseWaiters() {
		this.waitersRefused = true;
		this.queues.wakeAll();
	}

	/**
	 * Serve nobody any more.
	 */
	void close() {
		this.closed = true;
		refuseWaiters();
	}

	/**
	 * One thread's wait for one lock. The order is: subscribe, try, wait; since a feed
	 * that has begun to listen makes every head try once more, it need not be waited for.
	 */
	private final class Wait {

		private final String name;

		private final LeaseTerms terms;

		private final Acquisition acquisition;

		private final long startNanos;

		private final long waitNanos;

		private @Nullable DataAccessException failure;

		private int timeouts;

		private @Nullable LeaseHandle taken;

		private boolean subscribed;

		private boolean waiting;

		private boolean askedAtLast;

		/**
		 * Why the last request of this thread was refused, if it is for a planned time.
		 */
		private @Nullable JobRefusal job;

		Wait(String name, LeaseTerms terms, Acquisition acquisition) {
			this.name = name;
			this.terms = terms;
			this.acquisition = acquisition;
			this.startNanos = LockAcquirer.this.clock.nanoTime();
			this.waitNanos = terms.waitUpTo().toNanos();
		}

		LockAttempt run() {
			try {
				LockAttempt attempt = null;
				while (attempt == null) {
					attempt = runInOnePlace();
				}
				return attempt;
			}
			finally {
				if (this.subscribed) {
					LockAcquirer.this.signals.leave();
				}
			}
		}

		private @Nullable LockAttempt runInOnePlace() {
			Waiter me = new Waiter(this.terms);
			LocalQueue queue = LockAcquirer.this.queues.join(this.name, me);
			try {
				return run(queue, me);
			}
			finally {
				leave(queue, me);
			}
		}

		/**
		 * What was handed over to a thread that goes without it, or with another grant,
		 * is nobody's.
		 */
		private void leave(LocalQueue queue, Waiter me) {
			try {
				if (me.handed() == null && queue.quit(me)) {
					return;
				}
				LeaseHandle handed = me.handed();
				if (handed != null && handed != this.taken) {
					LockAcquirer.this.keeper.passOn(handed.lease());
				}
			}
			finally {
				queue.leave();
			}
		}

		/**
		 * Wait in one place of the queue.
		 * @return {@code null} when the lock that was handed over is lost or unproven
		 * already: there is no other place then than a new one
		 */
		private @Nullable LockAttempt run(LocalQueue queue, Waiter me) {
			boolean untold = false;
			for (boolean arriving = true;; arriving = false) {
				LeaseHandle handed = me.handed();
				if (handed != null && untold) {
					LockAcquirer.this.statistics.count(WaitCause.UNTOLD);
				}
				untold = false;
				if (handed != null && !handed.isHeld()) {
					return null;
				}
				if (handed != null) {
					this.taken = handed;
					return accept(handed);
				}
				refuseIfUnwanted(this.name);
				long leftNanos = this.waitNanos - elapsedNanos();
				long pauseNanos = queue.pauseBeforeAsking(me);
				if (pauseNanos <= 0 && (leftNanos > 0 || arriving)) {
					LockAttempt attempt = ask(queue, me, queue.beginAsking(me), leftNanos);
					if (attempt != null) {
						return attempt;
					}
				}
				else if (leftNanos <= 0) {
					WaitCause cause = this.askedAtLast ? null : queue.beginAskingAtLast(me);
					this.askedAtLast |= cause != null;
					LockAttempt attempt = ask(queue, me, cause, leftNanos);
					if (attempt != null) {
						return attempt;
					}
					Outcome known = queue.known(me, LockAcquirer.this.settings.acquirer());
					long patienceNanos = SHORTEST_REQUEST.toNanos() + leftNanos;
					if (known == null && patienceNanos > 0) {
						refuseIfClosing();
						me.park(patienceNanos);
						refuseIfClosing();
					}
					else if (queue.quit(me)) {
						return giveUp(known);
					}
				}
				else if (!beginWaiting(queue, pauseNanos)) {
					refuseIfClosing();
					untold = !me.park(Math.min(pauseNanos, leftNanos));
					refuseIfClosing();
				}
			}
		}

		/**
		 * What comes before the first pause. It may be the work of others, which parks
		 * the thread and so takes a wake-up that was meant for the pause; so the queue
		 * has to be looked at again after it.
		 * @return whether there was something to do
		 */
		private boolean beginWaiting(LocalQueue queue, long pauseNanos) {
			boolean first = !this.waiting;
			boolean asks = !this.subscribed && pauseNanos < Long.MAX_VALUE
					&& (queue.plan() != null || queue.isYielding());
			if (asks) {
				subscribe();
			}
			if (first) {
				this.waiting = true;
				this.acquisition.waiting();
			}
			return first || asks;
		}

		private long elapsedNanos() {
			return LockAcquirer.this.clock.nanoTime() - this.startNanos;
		}

		private @Nullable LockAttempt ask(LocalQueue queue, Waiter me, @Nullable WaitCause cause, long leftNanos) {
			if (cause == null) {
				return null;
			}
			LockAcquirer.this.statistics.count(cause);
			Outcome outcome = LockAcquirer.this.requests.ask(queue, me, this.terms, limit(leftNanos));
			LeaseHandle handle = outcome.handle();
			if (handle != null) {
				return accept(handle);
			}
			if (outcome.isFinal()) {
				// This thread leaves, and the next one asks
				return outcome.refusal(this.name, Duration.ofNanos(elapsedNanos()));
			}
			this.job = outcome.job();
			this.failure = outcome.failure();
			this.timeouts = outcome.isTimedOut() ? this.timeouts + 1 : 0;
			subscribe();
			AskPlan before = queue.plan();
			int refusals = (before != null) ? before.refusals() + 1 : 1;
			queue.refused(me, LockAcquirer.this.pauses.plan(outcome.forJob(null), refusals,
					LockAcquirer.this.signals.isListening(), System.nanoTime()));
			return null;
		}

		/**
		 * How long the next request may take. With W for the wait and M for the longest
		 * request (the timeout, or the lease if that is shorter), a request is cut short
		 * only if the smaller of M and W/2 is left after it, and after the look at the
		 * holder and the pause that follow a timeout. Patience grows without a bound, so
		 * there is a request that is not cut short, and it may take the smaller of M and
		 * W/2 at least. A server that answers sooner grants a free lock by then: that is
		 * any server within M for a wait that is longer than two requests.
		 */
		private Duration limit(long leftNanos) {
			Duration most = Durations.shorter(LockAcquirer.this.settings.timeout(), this.terms.lease());
			long patienceNanos = PATIENCE.multipliedBy(1L << Math.min(this.timeouts, MOST_DOUBLINGS)).toNanos();
			long afterwardsNanos = leftNanos - patienceNanos - LockRequests.LOOK.toNanos()
					- LockAcquirer.this.settings.poll().minInterval().toNanos();
			boolean cutShort = afterwardsNanos >= Math.min(most.toNanos(), this.waitNanos / 2);
			long nanos = cutShort ? patienceNanos : Math.max(leftNanos, SHORTEST_REQUEST.toNanos());
			return Durations.shorter(most, Duration.ofNanos(nanos));
		}

		private void subscribe() {
			if (!this.subscribed) {
				this.subscribed = true;
				LockAcquirer.this.signals.enter();
			}
		}

		private void refuseIfClosing() {
			if (LockAcquirer.this.waitersRefused) {
				throw new LockShutdownException(this.name);
			}
		}

		/**
		 * The end of the wait: a refusal if the lock is known to be held, and an
		 * exception if all that is known is a failure, or nothing at all.
		 */
		private LockAttempt giveUp(@Nullable Outcome known) {
			if (known == null) {
				throw new QueryTimeoutException(
						("The lock '%s' was waited for, and not acquired: another thread of this application has asked "
								+ "for it on behalf of all that wait, and MongoDB has not answered yet. The lock is not "
								+ "held here. Check the load of MongoDB, or wait longer than a request may take")
							.formatted(this.name));
			}
			Outcome last = (known.failure() == this.failure) ? known : known.seenByOthers(this.name);
			return last.forJob(this.job).refusal(this.name, Duration.ofNanos(elapsedNanos()));
		}

	}

}
