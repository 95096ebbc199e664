package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.LockInfo;
import dev.dblock.claim.Claim;
import dev.dblock.core.GivenUpLeases.GivenUp;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LockClock;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.support.Durations;
import dev.dblock.support.LossInterrupts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases locks in three attempts with a growing pause between them, whether or not the
 * thread is interrupted in the meantime (as the old lock code of MongoDB's own
 * {@code config.locks} did). If the store remains unreachable, the lock ends with its
 * lease.
 */
final class LeaseReleaser {

	private static final int ATTEMPTS = 3;

	private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

	private static final int PAUSE_FACTOR = 4;

	/** The longest pause between two attempts to record the end of a claim. */
	private static final Duration RECORD_PAUSE = Duration.ofSeconds(1);

	/** The number of such attempts that fit into a short lease. */
	private static final int RECORD_ATTEMPTS = 10;

	/**
	 * The shortest pause before a lock in doubt is released for the third time or later.
	 */
	private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);

	private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(500);

	/**
	 * The maximum number of releases that wait for a thread. During an outage, attempts
	 * to acquire fail and each release takes as long as a request may, which must not
	 * exhaust the memory.
	 */
	static final int MOST_WAITING = 10_000;

	private static final Logger logger = LoggerFactory.getLogger(LeaseReleaser.class);

	private final LockRepository repository;

	private final LockObservations observations;

	private final LockClock clock;

	private final Duration timeout;

	private final ScheduledExecutorService timer;

	private final Executor background;

	private final GivenUpLeases givenUp;

	private final AtomicInteger waiting = new AtomicInteger();

	private final AtomicBoolean fullLogged = new AtomicBoolean();

	LeaseReleaser(LockRepository repository, LockObservations observations, LockClock clock, Duration timeout,
			ScheduledExecutorService timer, Executor background) {
		this.repository = repository;
		this.observations = observations;
		this.clock = clock;
		this.timeout = timeout;
		this.timer = timer;
		this.background = background;
		this.givenUp = new GivenUpLeases(clock);
	}

	/**
	 * Release a lock that its owner has held until now. A retry that does not find the
	 * acquisition counts as released if the lease was proven before the first attempt,
	 * because then the earlier attempt released it.
	 * @param lease the lease
	 * @return whether the store still had this acquisition as the holder
	 * @throws org.springframework.dao.DataAccessException when no attempt was answered
	 */
	boolean release(Lease lease) {
		boolean proven = !lease.isOver() && !lease.isUnproven();
		LeaseDeadline end = LeaseDeadline.from(this.clock, limitOf(lease));
		Duration pause = FIRST_PAUSE;
		try (LossInterrupts.Aside interrupt = LossInterrupts.putAside()) {
			for (int attempt = 1;; attempt++) {
				try {
					boolean matched = send(lease, timeoutFor(end, attempt));
					return matched || proven && attempt > 1;
				}
				catch (RuntimeException ex) {
					interrupt.take();
					if (attempt == ATTEMPTS || lease.trusted().leftAtStore().isZero()) {
						giveUp(lease);
						onceMoreIfExtended(lease);
						untilRecorded(lease);
						throw ex;
					}
					logger.debug("Attempt {} to release the lock '{}' failed", attempt, lease.key().name(), ex);
				}
				pause(pause);
				interrupt.take();
				pause = pause.multipliedBy(PAUSE_FACTOR);
			}
		}
	}

	private static Duration minHoldLeft(Lease lease) {
		return Duration.ofNanos(lease.holdTime().minHoldLeftNanos());
	}

	/**
	 * Return how long all attempts may take together. There is nothing left to free after
	 * the end of the lease, so they need not take longer than that.
	 */
	private Duration limitOf(Lease lease) {
		return Durations.shorter(lease.trusted().leftAtStore(), this.timeout);
	}

	/**
	 * Return half of the remaining time as long as another attempt follows. A server that
	 * breaks or swallows every request blocks an attempt for as long as the attempt may
	 * take.
	 */
	private Duration timeoutFor(LeaseDeadline end, int attempt) {
		Duration left = Duration.ofNanos(Math.max(0, end.remainingNanos(this.clock)));
		Duration most = (attempt < ATTEMPTS) ? left.dividedBy(2) : left;
		return (most.compareTo(SHORTEST_TIMEOUT) > 0) ? most : Durations.shorter(SHORTEST_TIMEOUT, this.timeout);
	}

	private void pause(Duration pause) {
		long end = this.clock.pauseNanos() + pause.toNanos();
		for (long left = pause.toNanos(); left > 0; left = end - this.clock.pauseNanos()) {
			this.clock.park(this, left);
			if (Thread.currentThread().isInterrupted()) {
				return;
			}
		}
	}

	/**
	 * Give up a lock that the store may or may not have granted, or may grant later. It
	 * is released now, once more when the request can no longer be in progress, and then
	 * with growing pauses in case the network is late. Nothing is sent once the lease
	 * would be over too. Otherwise, the attempts made during an outage would accumulate
	 * for as long as it lasts.
	 * @param key the acquisition in doubt
	 * @param end the end of its lease, had it been granted when it was sent
	 * @param limit the time limit of its request
	 * @param abandoned the end of its claim; {@code null} for a plain lock
	 */
	void releaseDoubtful(LeaseKey key, LeaseDeadline end, Duration limit, Claim.@Nullable End abandoned) {
		GivenUp lease = doubtful(key, end, limit, abandoned);
		inBackground(key, () -> releaseIfItMatters(lease));
		releaseAgain(lease, limit);
	}

	/**
	 * Give up such a lock before the caller sends a new request, which could be refused
	 * because of it.
	 * @param key the acquisition in doubt
	 * @param end the end of its lease, had it been granted when it was sent
	 * @param limit the time limit of its request
	 * @param atMost how long the caller may be blocked
	 * @param abandoned the end of its claim; {@code null} for a plain lock
	 */
	void releaseDoubtfulFirst(LeaseKey key, LeaseDeadline end, Duration limit, Duration atMost,
			Claim.@Nullable End abandoned) {
		GivenUp lease = doubtful(key, end, limit, abandoned);
		release(lease, atMost);
		releaseAgain(lease, limit);
	}

	private GivenUp doubtful(LeaseKey key, LeaseDeadline end, Duration limit, Claim.@Nullable End abandoned) {
		GivenUp lease = new GivenUp(key, end, limit,
				(atMost) -> send(key, Duration.ZERO, FenceMark.KEEP, abandoned, atMost));
		this.givenUp.remember(lease);
		return lease;
	}

	private boolean releaseIfItMatters(GivenUp lease) {
		boolean matters = lease.end().remainingNanos(this.clock) + lease.limit().toNanos() >= 0;
		if (matters) {
			release(lease, this.timeout);
		}
		return matters;
	}

	private void releaseAgain(GivenUp lease, Duration pause) {
		Duration next = pause.multipliedBy(2);
		later(lease.key(), pause, () -> {
			if (this.givenUp.contains(lease) && releaseIfItMatters(lease)) {
				releaseAgain(lease, (next.compareTo(SHORTEST_PAUSE) > 0) ? next : SHORTEST_PAUSE);
			}
		});
	}

	/**
	 * Return the acquisition that the store shows as the holder of a lock, if this
	 * process has given it up.
	 */
	@Nullable GivenUp findGivenUp(LockInfo lock) {
		return this.givenUp.find(lock);
	}

	/**
	 * Release an acquisition that was given up. Once the store has confirmed that, it can
	 * never be the holder again.
	 * @param lease the acquisition
	 * @param atMost how long the caller may be blocked
	 * @return whether the request was answered
	 */
	boolean release(GivenUp lease, Duration atMost) {
		try {
			if (lease.release().send(atMost)) {
				this.givenUp.forget(lease);
			}
			return true;
		}
		catch (RuntimeException ex) {
			logFailure(lease.key(), ex);
			return false;
		}
	}

	private void later(LeaseKey key, Duration pause, Runnable release) {
		try {
			ScheduledFuture<?> unused = this.timer.schedule(() -> inBackground(key, release), pause.toMillis(),
					TimeUnit.MILLISECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The engine was closed: the lock '{}' becomes free when its lease ends", key.name());
		}
	}

	/**
	 * Release a lease that is no longer relied on, without waiting for the answer.
	 * @param lease the lease
	 */
	void releaseInBackground(Lease lease) {
		inBackground(lease.key(), releaseOf(lease));
		onceMoreIfExtended(lease);
	}

	private Runnable releaseOf(Lease lease) {
		return () -> {
			if (!releaseQuietly(lease)) {
				untilRecorded(lease);
			}
		};
	}

	/**
	 * Retry the release of a claim until it is answered, because work whose end is not
	 * recorded counts as crashed. After the end of the lease, another instance may have
	 * repeated the work. At least a whole lease is left from now, because a failed
	 * renewal may have been applied, and more than that after an extension.
	 */
	private void untilRecorded(Lease lease) {
		if (lease.terms().claim() != null) {
			Duration length = lease.terms().lease();
			Duration left = lease.trusted().leftAtStore();
			Duration most = (left.compareTo(length) > 0) ? left : length;
			releaseUntil(LeaseDeadline.from(this.clock, most.plus(this.timeout)), lease,
					Durations.shorter(RECORD_PAUSE, length.dividedBy(RECORD_ATTEMPTS)));
		}
	}

	private void releaseUntil(LeaseDeadline end, Lease lease, Duration pause) {
		later(lease.key(), pause, () -> {
			if (!releaseQuietly(lease) && !end.passed(this.clock)) {
				releaseUntil(end, lease, pause);
			}
		});
	}

	/**
	 * Release a lease once more if an extension is in doubt, in case the store is
	 * unreachable now. Otherwise the rest of the lease at the store ends soon.
	 */
	private void onceMoreIfExtended(Lease lease) {
		if (lease.trusted().isPerhapsExtended() && lease.terms().claim() == null) {
			later(lease.key(), this.timeout, () -> {
				if (!lease.trusted().leftAtStore().isZero()) {
					releaseQuietly(lease);
				}
			});
		}
	}

	private void inBackground(LeaseKey key, Runnable release) {
		if (this.waiting.incrementAndGet() > MOST_WAITING) {
			this.waiting.decrementAndGet();
			leaveToLease(key);
			return;
		}
		try {
			this.background.execute(() -> {
				if (this.waiting.decrementAndGet() == 0) {
					this.fullLogged.set(false);
				}
				release.run();
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			this.waiting.decrementAndGet();
			logger.debug("There is no thread to release the lock '{}'; it becomes free when its lease ends", key.name(),
					ex);
		}
	}

	private void leaveToLease(LeaseKey key) {
		if (this.fullLogged.compareAndSet(false, true)) {
			logger
				.warn("{} releases of locks are waiting for MongoDB, and no more are queued. The lock '{}', and others"
						+ " until the queue is empty, become free when their leases end, unless MongoDB has"
						+ " already released them. Check that MongoDB is reachable", MOST_WAITING, key.name());
		}
		else {
			logger.debug("Too many releases are waiting: the lock '{}' becomes free when its lease ends", key.name());
		}
	}

	/**
	 * Release a lease without an exception.
	 * @return whether the request was answered
	 */
	private boolean releaseQuietly(Lease lease) {
		try {
			send(lease, this.timeout);
			return true;
		}
		catch (RuntimeException ex) {
			giveUp(lease);
			logFailure(lease.key(), ex);
			return false;
		}
	}

	/**
	 * Remember a lease whose owner has finished, in case this process asks for the lock
	 * before the lease ends.
	 */
	private void giveUp(Lease lease) {
		this.givenUp.remember(new GivenUp(lease.key(), LeaseDeadline.from(this.clock, lease.trusted().leftAtStore()),
				this.timeout, (atMost) -> send(lease, atMost)));
	}

	private boolean send(Lease lease, Duration limit) {
		return send(lease.key(), minHoldLeft(lease), lease.markAtRelease(), lease.claimEnd(), limit);
	}

	private static void logFailure(LeaseKey key, RuntimeException ex) {
		logger.debug("The lock '{}' could not be released; it becomes free when its lease ends", key.name(), ex);
	}

	private boolean send(LeaseKey key, Duration minHoldLeft, FenceMark mark, Claim.@Nullable End end, Duration limit) {
		return this.observations.observe(LockObserver.Activity.RELEASE, LockObserver.Subject.lock(key.name(), null, 0),
				() -> this.repository.release(key, minHoldLeft, mark, end, limit),
				(held) -> held ? LockObserver.Outcome.RELEASED : LockObserver.Outcome.LOST);
	}

}
