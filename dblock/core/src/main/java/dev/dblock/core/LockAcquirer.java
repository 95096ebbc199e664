package dev.dblock.core;

import java.time.Duration;
import java.util.List;

import dev.dblock.LockInterruptedException;
import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.claim.Claim;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.Holders;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.core.queue.Outcome;
import dev.dblock.core.queue.PollPause;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.core.queue.Turn;
import dev.dblock.core.queue.Waiter;
import dev.dblock.engine.LockEngine;
import dev.dblock.observation.LockObservations;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.StoreTimeoutException;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Acquires a lock for a thread: from the store, or from another thread of this process.
 * Otherwise it reports a refusal.
 */
final class LockAcquirer {

	/**
	 * The last request of a waiter, by which it confirms that the lock is held, may take
	 * this long even if less of its wait time is left. With less time, a server that is
	 * merely busy could never answer. The waiters behind it wait as long for an answer.
	 */
	private static final Duration SHORTEST_REQUEST = Duration.ofSeconds(1);

	/**
	 * An answer within this time before the end of a wait confirms a refusal as well.
	 * Otherwise, each of many waiters whose times end one after the other would send a
	 * request of its own.
	 */
	private static final Duration RECENT_ANSWER = Duration.ofMillis(50);

	/**
	 * A request that was sent to a failed server keeps a waiter from trying the next
	 * server. Therefore it is cut short after this time, which doubles with each
	 * consecutive timeout.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(1250);

	private static final int MOST_DOUBLINGS = 20;

	private static final String OWN_LOCK = "This thread itself holds it. Run the call in LockTemplate.within(handle, ...),"
			+ " where execute, annotated methods and asLock re-enter the lock, or release the handle first; acquire and"
			+ " tryAcquire never re-enter";

	private static final String PLAIN_LOCK = "It has %d permits elsewhere, and was requested as a plain lock. Request the"
			+ " same number of permits everywhere, or permits = 1 everywhere before it becomes a plain lock";

	private final LockRequests requests;

	private final EngineSettings settings;

	private final LocalQueues queues;

	private final ReleaseSignals signals;

	private final LeaseKeeper keeper;

	private final PollPause pauses;

	private final Counts<WaitCause> statistics;

	private final LockClock clock;

	private volatile boolean waitersRefused;

	private volatile boolean closed;

	LockAcquirer(LockRequests requests, EngineSettings settings, LocalQueues queues, ReleaseSignals signals,
			LeaseKeeper keeper, Counts<WaitCause> statistics, LockClock clock) {
		this.requests = requests;
		this.settings = settings;
		this.queues = queues;
		this.signals = signals;
		this.keeper = keeper;
		this.pauses = new PollPause(settings.poll(), clock);
		this.statistics = statistics;
		this.clock = clock;
	}

	/**
	 * Acquire a lock.
	 * @param name the full name of the lock
	 * @param terms the terms of the wait and the lease
	 * @param acquisition is notified when the thread has to wait
	 * @return the grant or the refusal
	 */
	LockEngine.Attempt acquire(String name, LeaseTerms terms, LockObservations.Acquisition acquisition) {
		LockEngine.Attempt attempt;
		if (terms.claim() != null) {
			attempt = acquireClaim(name, terms, terms.claim(), acquisition);
		}
		else {
			attempt = terms.waitUpTo().isZero() ? tryOnce(name, terms) : awaitTurn(name, terms, acquisition);
		}
		LockRefusal refusal = (attempt instanceof LockEngine.Refused refused) ? refused.refusal() : null;
		if (refusal == null || refusal.verdict() != null) {
			return attempt;
		}
		String remark = remark(name, terms, refusal.holder());
		return new LockEngine.Refused(new LockRefusal(name, refusal.holder(), refusal.waited(),
				(remark != null) ? remark : refusal.remark(), null, terms.permits()));
	}

	private @Nullable String remark(String name, LeaseTerms terms, @Nullable LockInfo holder) {
		int permits = (holder != null) ? holder.permits() : 0;
		if (terms.permits() == 0 && permits > 1) {
			return PLAIN_LOCK.formatted(permits);
		}
		return (ownLease(name, terms) != null) ? OWN_LOCK : null;
	}

	/**
	 * Return the lease that this thread alone holds, outside the work that asks for the
	 * lock, since that work would have re-entered it. Of several permits, the thread has
	 * to hold all, and the one that ends first is returned.
	 */
	private @Nullable Lease ownLease(String name, LeaseTerms terms) {
		List<Lease> present = present(name, terms);
		boolean mine = present.stream()
			.allMatch((lease) -> lease.isHeld() && lease.owner().isOnly(Thread.currentThread()));
		return mine ? Holders.first(present) : null;
	}

	/**
	 * Return the leases by which this process alone keeps a lock unavailable.
	 */
	private List<Lease> present(String name, LeaseTerms terms) {
		LocalQueue queue = this.queues.find(name);
		return (queue != null) ? queue.present(Math.max(1, terms.permits())) : List.of();
	}

	/**
	 * Wait for a lock, but not for one that only this thread can release. If its lease is
	 * not renewed, the lock may become free during the wait nevertheless.
	 */
	private LockEngine.Attempt awaitTurn(String name, LeaseTerms terms, LockObservations.Acquisition acquisition) {
		refuseIfUnwanted(name);
		Lease own = ownLease(name, terms);
		if (own != null && (own.isRenewing() || own.remaining().compareTo(terms.waitUpTo()) > 0)) {
			return new LockEngine.Refused(new LockRefusal(name, own.describe(this.settings.acquirer()), Duration.ZERO));
		}
		return new Wait(name, terms, acquisition).run();
	}

	/**
	 * Acquire a lock for a claim. Only the store can decide about it, so a request is
	 * sent even while this process has the lock. The thread waits only if the refusal is
	 * not final.
	 */
	private LockEngine.Attempt acquireClaim(String name, LeaseTerms terms, Claim claim,
			LockObservations.Acquisition acquisition) {
		refuseIfUnwanted(name);
		Duration within = claim.answerWithin();
		LocalQueue queue = this.queues.enter(name);
		try {
			Duration most = terms.acquireTimeout(this.settings.timeout());
			most = (within != null) ? Durations.shorter(most, within) : most;
			boolean waits = !terms.waitUpTo().isZero();
			Duration patience = (terms.waitUpTo().compareTo(SHORTEST_REQUEST) > 0) ? terms.waitUpTo()
					: SHORTEST_REQUEST;
			Outcome outcome = this.requests.ask(queue, null, terms, waits ? Durations.shorter(most, patience) : most);
			if (outcome instanceof Outcome.Granted granted) {
				return accept(granted.handle());
			}
			Outcome.Unavailable unavailable = (Outcome.Unavailable) outcome;
			if (!waits || unavailable.isFinal()) {
				return new LockEngine.Refused(unavailable.refusal(name, Duration.ZERO));
			}
		}
		finally {
			queue.leave();
		}
		return awaitTurn(name, terms, acquisition);
	}

	private LockEngine.Attempt tryOnce(String name, LeaseTerms terms) {
		refuseIfUnwanted(name);
		LockRefusal refusal = refuseHere(name, terms);
		if (refusal != null) {
			return new LockEngine.Refused(refusal);
		}
		LocalQueue queue = this.queues.enter(name);
		try {
			Outcome outcome = this.requests.ask(queue, null, terms, terms.acquireTimeout(this.settings.timeout()));
			return (outcome instanceof Outcome.Unavailable unavailable)
					? new LockEngine.Refused(unavailable.refusal(name, Duration.ZERO))
					: accept(((Outcome.Granted) outcome).handle());
		}
		finally {
			queue.leave();
		}
	}

	/**
	 * Refuse a lock that this process has, without a request. A request that is sent
	 * while the lock is being released, or while the waiters of this process yield to
	 * other processes or are about to send a request, would overtake all of them. The
	 * reason is that others learn of a release only when a majority has it.
	 */
	private @Nullable LockRefusal refuseHere(String name, LeaseTerms terms) {
		Lease mine = Holders.first(present(name, terms));
		if (mine != null) {
			return new LockRefusal(name, mine.describe(this.settings.acquirer()), Duration.ZERO);
		}
		LocalQueue queue = this.queues.find(name);
		return (queue != null && queue.letsOthersGoFirst()) ? new Outcome.OthersFirst().refusal(name, Duration.ZERO)
				: null;
	}

	private LockEngine.Attempt accept(LeasedLock handle) {
		boolean accepted = false;
		try {
			if (this.closed) {
				throw new LockShutdownException(handle.name());
			}
			handle.joinTransaction();
			accepted = true;
			return new LockEngine.Granted(handle);
		}
		finally {
			if (!accepted) {
				this.keeper.completion().passOn(handle.lease());
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
	 * Refuse to let any thread wait from now on. Callers that need not wait are still
	 * served.
	 */
	void refuseWaiters() {
		this.waitersRefused = true;
		this.queues.wakeAll();
	}

	/**
	 * Refuse all callers from now on.
	 */
	void close() {
		this.closed = true;
		refuseWaiters();
	}

	/**
	 * One thread's wait for one lock. The order is: try, subscribe, wait. When the feed
	 * of releases begins to listen, every head tries once more, so a wait need not be
	 * delayed until then.
	 */
	private final class Wait {

		private final String name;

		private final LeaseTerms terms;

		private final LockObservations.Acquisition acquisition;

		private final long startNanos;

		private final long waitNanos;

		private @Nullable DataAccessException failure;

		private int timeouts;

		private @Nullable LeasedLock taken;

		private boolean subscribed;

		private boolean waiting;

		/**
		 * Why the last request of this thread was refused, if it is for a claim.
		 */
		private Claim.@Nullable Verdict verdict;

		Wait(String name, LeaseTerms terms, LockObservations.Acquisition acquisition) {
			this.name = name;
			this.terms = terms;
			this.acquisition = acquisition;
			this.startNanos = LockAcquirer.this.clock.nanoTime();
			this.waitNanos = terms.waitUpTo().toNanos();
		}

		LockEngine.Attempt run() {
			try {
				LockEngine.Attempt attempt = null;
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

		private LockEngine.@Nullable Attempt runInOnePlace() {
			Waiter me = new Waiter(this.terms) {

				@Override
				public boolean isTimeOver() {
					return elapsedNanos() + RECENT_ANSWER.toNanos() >= Wait.this.waitNanos;
				}

			};
			LocalQueue queue = LockAcquirer.this.queues.join(this.name, me);
			try {
				return run(queue, me);
			}
			finally {
				leave(queue, me);
			}
		}

		/**
		 * Leave the queue. A lock that was handed over to a thread that leaves without
		 * it, or with another grant, has no owner, so it is passed on.
		 */
		private void leave(LocalQueue queue, Waiter me) {
			try {
				if (me.handed() == null && queue.quit(me)) {
					return;
				}
				LeasedLock handed = me.handed();
				if (handed != null && handed != this.taken) {
					LockAcquirer.this.keeper.completion().passOn(handed.lease());
				}
			}
			finally {
				queue.leave();
			}
		}

		/**
		 * Wait in one place of the queue.
		 * @return {@code null} when the lock that was handed over is already lost or
		 * unproven, so that the thread has to take a new place
		 */
		private LockEngine.@Nullable Attempt run(LocalQueue queue, Waiter me) {
			while (true) {
				if (me.handed() == null) {
					refuseIfUnwanted(this.name);
				}
				long leftNanos = this.waitNanos - elapsedNanos();
				Turn turn = queue.turn(me, leftNanos, SHORTEST_REQUEST.toNanos(),
						LockAcquirer.this.settings.acquirer());
				if (turn instanceof Turn.Take take) {
					if (!take.handle().isHeld()) {
						return null;
					}
					this.taken = take.handle();
					return accept(take.handle());
				}
				if (turn instanceof Turn.GiveUp end) {
					return giveUp(end.known());
				}
				if (turn instanceof Turn.Park park) {
					if (!beginWaiting(park.until())) {
						refuseIfClosing();
						LockAcquirer.this.clock.park(me, park.nanos());
						refuseIfClosing();
					}
					continue;
				}
				LockEngine.Attempt attempt = ask(queue, me, ((Turn.Ask) turn).cause(), leftNanos);
				if (attempt != null) {
					return attempt;
				}
			}
		}

		/**
		 * Prepare the first pause. This may run code of others, which parks the thread
		 * and so consumes a wake-up that was meant for the pause. Therefore the queue
		 * must be checked again afterwards.
		 * @return whether there was anything to do
		 */
		private boolean beginWaiting(Turn.Awaited until) {
			if (until == Turn.Awaited.ANSWER) {
				return false;
			}
			boolean first = !this.waiting;
			boolean asks = !this.subscribed && until == Turn.Awaited.OTHER_PROCESSES;
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

		private LockEngine.@Nullable Attempt ask(LocalQueue queue, Waiter me, WaitCause cause, long leftNanos) {
			LockAcquirer.this.statistics.count(cause);
			Outcome outcome = LockAcquirer.this.requests.ask(queue, me, this.terms, limit(leftNanos));
			if (outcome instanceof Outcome.Granted granted) {
				return accept(granted.handle());
			}
			Outcome.Unavailable unavailable = (Outcome.Unavailable) outcome;
			if (unavailable.isFinal() || isOfPermits(unavailable)) {
				// This thread leaves, and the next one sends its request
				return new LockEngine.Refused(unavailable.refusal(this.name, Duration.ofNanos(elapsedNanos())));
			}
			this.verdict = unavailable.verdict();
			this.failure = unavailable.failure();
			this.timeouts = unavailable.isTimedOut() ? this.timeouts + 1 : 0;
			subscribe();
			PollPause.Plan before = queue.plan();
			if (before != null && unavailable.showsReleaseSince(before.last())) {
				LockAcquirer.this.signals.noticeRelease();
			}
			int refusals = (before != null) ? before.refusals() + 1 : 1;
			queue.refused(me, LockAcquirer.this.pauses.plan(unavailable.withVerdict(null), refusals,
					LockAcquirer.this.signals.isListening(), LockAcquirer.this.clock.pauseNanos()));
			return null;
		}

		/**
		 * Return how long the next request may take. Let W be the wait time and M the
		 * longest request (the timeout, or the lease if that is shorter). A request is
		 * cut short only if the smaller of M and W/2 is left after the request, the
		 * look-up of the holder and the pause that follow a timeout. Patience grows
		 * without a bound, so there is a request that is not cut short, and it may take
		 * at least the smaller of M and W/2. A server that answers within that time
		 * grants a free lock. For a wait that is longer than two requests, this is any
		 * server that answers within M.
		 */
		private Duration limit(long leftNanos) {
			Duration most = this.terms.acquireTimeout(LockAcquirer.this.settings.timeout());
			long patienceNanos = PATIENCE.multipliedBy(1L << Math.min(this.timeouts, MOST_DOUBLINGS)).toNanos();
			long afterwardsNanos = leftNanos - patienceNanos - LockRequests.LOOK.toNanos()
					- LockAcquirer.this.settings.poll().minInterval().toNanos();
			boolean cutShort = afterwardsNanos >= Math.min(most.toNanos(), this.waitNanos / 2);
			long nanos = cutShort ? patienceNanos : Math.max(leftNanos, SHORTEST_REQUEST.toNanos());
			return Durations.shorter(most, Duration.ofNanos(nanos));
		}

		/**
		 * Whether a plain lock was refused because the name has permits, which no release
		 * changes.
		 */
		private boolean isOfPermits(Outcome.Unavailable unavailable) {
			LockInfo holder = (unavailable instanceof Outcome.Refused refused) ? refused.holder() : null;
			return this.terms.permits() == 0 && holder != null && holder.permits() > 1;
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
		 * End the wait. The result is a refusal if the lock is known to be held, and an
		 * exception if only a failure is known, or nothing at all.
		 */
		private LockEngine.Attempt giveUp(Outcome.@Nullable Unavailable known) {
			if (known == null) {
				throw new StoreTimeoutException(
						("The lock '%s' was not acquired within the wait: another thread of this application"
								+ " requested it on behalf of all waiting threads, and MongoDB has not answered yet."
								+ " This thread does not hold the lock. Check the load of MongoDB, or wait longer than"
								+ " a request may take")
							.formatted(this.name));
			}
			Outcome.Unavailable last = (known.failure() == this.failure) ? known : known.seenByOthers(this.name);
			return new LockEngine.Refused(
					last.withVerdict(this.verdict).refusal(this.name, Duration.ofNanos(elapsedNanos())));
		}

	}

}
