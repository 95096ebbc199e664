package dev.dblock.core;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import dev.dblock.Durations;
import dev.dblock.LockException;
import dev.dblock.LockInfo;
import dev.dblock.LockInterruptedException;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.settings.LockNames;
import dev.dblock.store.AcquireAnswer;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.store.UnreachableStoreException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;

/**
 * Asks the store for a lock. Each attempt has an id of its own; one whose answer is
 * missing is given back, and never asked about again.
 */
final class LockRequests {

	/**
	 * How long a look at who holds the lock may take: before a request, of whose time it
	 * is a part, and after one that ran out of time, by which it keeps a waiter longer.
	 */
	static final Duration LOOK = Duration.ofMillis(500);

	private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	/**
	 * With less time than this, another attempt would only hide why the first one failed.
	 */
	private static final long SHORTEST_REPETITION_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Logger logger = LoggerFactory.getLogger(LockRequests.class);

	private final LockRepository repository;

	private final String acquirer;

	private final LeaseReleaser releaser;

	private final LeaseKeeper keeper;

	private final LockClock clock;

	private final HolderIds ids = new HolderIds();

	private final RecentRefusals refusals;

	LockRequests(LockRepository repository, String acquirer, LeaseReleaser releaser, LeaseKeeper keeper,
			LockClock clock) {
		this.repository = repository;
		this.acquirer = acquirer;
		this.releaser = releaser;
		this.keeper = keeper;
		this.clock = clock;
		this.refusals = new RecentRefusals(clock);
	}

	/**
	 * Ask for a lock that nobody is going to wait for. Where it was refused not long ago,
	 * a look tells that it still is: that costs the store less than a request which could
	 * grant it, and nobody has to wait for a majority of the servers.
	 * @param queue the queue of its name
	 * @param terms how to hold it
	 * @param limit how long all of it may take
	 * @return what came of it
	 */
	Outcome tryOnce(LocalQueue queue, LeaseTerms terms, Duration limit) {
		Outcome outcome = null;
		Duration left = limit;
		if (this.refusals.isLikelyTaken(queue.name())) {
			LeaseDeadline end = LeaseDeadline.from(this.clock, limit);
			outcome = look(queue.name(), Durations.shorter(limit.dividedBy(2), LOOK));
			left = left(end);
		}
		if (outcome == null) {
			outcome = ask(queue, null, terms, left);
		}
		LockInfo holder = outcome.holder();
		if (holder != null) {
			this.refusals.remember(holder);
		}
		else {
			this.refusals.forget(queue.name());
		}
		return outcome;
	}

	private @Nullable Outcome look(String name, Duration limit) {
		try {
			LockInfo found = this.repository.find(name, limit).orElse(null);
			return (found != null && !found.remaining().isZero()) ? Outcome.refused(found) : null;
		}
		catch (RepositoryInterruptedException ex) {
			throw new LockInterruptedException(name, ex);
		}
		catch (DataAccessException ex) {
			logger.debug("A look at the lock '{}' failed, and it is asked for without", name, ex);
			return null;
		}
	}

	private Duration left(LeaseDeadline end) {
		return Duration.ofNanos(Math.max(SHORTEST_NANOS, end.remainingNanos(this.clock)));
	}

	/**
	 * Ask for a lock. When the server that is asked is the primary no more, or is gone,
	 * the next one is asked in the time that is left.
	 * @param queue the queue of its name
	 * @param waiter the caller's place in the queue, if it waits
	 * @param terms how to hold it
	 * @param limit how long all of it may take
	 * @return what came of it
	 */
	Outcome ask(LocalQueue queue, @Nullable Waiter waiter, LeaseTerms terms, Duration limit) {
		String why = LockNames.onOneLine((terms.why() != null) ? terms.why() : CallSite.describe());
		String thread = LockNames.onOneLine(LeaseOwner.nameOf(Thread.currentThread()));
		LeaseDeadline end = LeaseDeadline.from(this.clock, limit);
		Duration left = limit;
		DoubtfulAttempt before = null;
		while (true) {
			LeaseKey key = new LeaseKey(queue.name(), this.ids.next());
			LeaseDeadline deadline = LeaseDeadline.from(this.clock, terms.lease());
			try {
				AcquireRequest request = new AcquireRequest(key, terms.lease(), this.acquirer, thread, why, left,
						queue.tokens(waiter, terms));
				AcquireAnswer answer = this.repository
					.acquire((terms.firing() != null) ? request.withFiring(terms.firing()) : request);
				if (answer instanceof AcquireAnswer.Refused refused) {
					return refused(refused, before, terms);
				}
				AcquireAnswer.Granted granted = (AcquireAnswer.Granted) answer;
				Grant grant = new Grant(key, granted.token(), granted.lastToken(), granted.acquiredAt(), why,
						granted.fenceRaised(), granted.run());
				return granted(queue, waiter, new Lease(grant, terms, Thread.currentThread(), deadline, this.clock));
			}
			catch (LockException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				if (before != null || !mayWorkElsewhere(ex) || isTooLate(end)) {
					if (!(ex instanceof UnreachableStoreException)) {
						this.releaser.releaseDoubtful(key, deadline, left, terms.abandoned(key));
					}
					return afterFailure(key, before, terms, ex);
				}
				logger.debug("A server did not take the request for the lock '{}', the next one is asked", key.name(),
						ex);
				before = new DoubtfulAttempt(key, deadline, left, ex);
				this.releaser.releaseDoubtfulFirst(key, deadline, left, left(end).dividedBy(2), terms.abandoned(key));
				if (isTooLate(end)) {
					return afterFailure(key, null, terms, ex);
				}
				left = left(end);
			}
			catch (Error ex) {
				this.releaser.releaseDoubtful(key, deadline, left, terms.abandoned(key));
				throw ex;
			}
		}
	}

	private boolean isTooLate(LeaseDeadline end) {
		return end.remainingNanos(this.clock) < SHORTEST_REPETITION_NANOS;
	}

	private static boolean mayWorkElsewhere(RuntimeException ex) {
		return ex instanceof DataAccessResourceFailureException && !(ex instanceof UnreachableStoreException)
				&& !Thread.currentThread().isInterrupted();
	}

	/**
	 * Who is refused because of an attempt of its own is not told that another has the
	 * lock, but why that attempt failed.
	 */
	private Outcome refused(AcquireAnswer.Refused refused, @Nullable DoubtfulAttempt before, LeaseTerms terms) {
		if (before == null || !before.isOf(refused.lock())) {
			return Outcome.refused(refused.lock(), refused.job());
		}
		this.releaser.releaseDoubtful(before.key, before.deadline, before.limit, terms.abandoned(before.key));
		return afterFailure(before.key, null, terms, before.failure);
	}

	/**
	 * The driver may repeat a request and be answered with a grant that was given, and
	 * lost, long ago; so only an answer within the lease counts, on a machine that was
	 * awake meanwhile.
	 */
	private Outcome granted(LocalQueue queue, @Nullable Waiter waiter, Lease lease) {
		if (lease.isOver() || lease.isUnproven()) {
			throw new QueryTimeoutException(
					("The grant of the lock '%s' was answered so late that its lease of %s may be over, and is not used. "
							+ "The server or the network is slower than the lease allows, or this machine was suspended")
						.formatted(lease.key().name(), Durations.readable(lease.terms().lease())));
		}
		queue.granted(lease, waiter);
		return Outcome.granted(this.keeper.keep(lease));
	}

	private Outcome afterFailure(LeaseKey key, @Nullable DoubtfulAttempt before, LeaseTerms terms,
			RuntimeException ex) {
		if (ex instanceof RepositoryInterruptedException) {
			throw new LockInterruptedException(key.name(), ex);
		}
		if (terms.waitUpTo().isZero() || !isPassing(ex)) {
			throw ex;
		}
		logger.debug("An attempt to acquire the lock '{}' failed and is repeated", key.name(), ex);
		return whoHolds(key, before, (DataAccessException) ex);
	}

	private static boolean isPassing(RuntimeException ex) {
		return ex instanceof TransientDataAccessException || ex instanceof RecoverableDataAccessException
				|| ex instanceof DataAccessResourceFailureException;
	}

	/**
	 * Without a majority of the servers nobody can be granted the lock, but one of them
	 * may still know who has it.
	 */
	private Outcome whoHolds(LeaseKey key, @Nullable DoubtfulAttempt before, DataAccessException failure) {
		if (!(failure instanceof QueryTimeoutException)) {
			return Outcome.failed(failure);
		}
		try {
			Optional<LockInfo> lock = this.repository.find(key.name(), LOOK);
			return lock.filter((info) -> info.held() && !key.holder().equals(info.holder()))
				.filter((info) -> before == null || !before.isOf(info))
				.map(Outcome::refused)
				.orElseGet(() -> Outcome.failed(failure));
		}
		catch (DataAccessException ex) {
			failure.addSuppressed(ex);
			return Outcome.failed(failure);
		}
	}

	/**
	 * A request that may have been granted.
	 *
	 * @param key the acquisition
	 * @param deadline the end of its lease, had it been granted when it was sent
	 * @param limit the time limit of its request
	 * @param failure what came in place of an answer
	 */
	private record DoubtfulAttempt(LeaseKey key, LeaseDeadline deadline, Duration limit, RuntimeException failure) {

		boolean isOf(LockInfo lock) {
			return lock.held() && this.key.holder().equals(lock.holder());
		}

	}

}
