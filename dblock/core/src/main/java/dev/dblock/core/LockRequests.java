package dev.dblock.core;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import dev.dblock.LockException;
import dev.dblock.LockInfo;
import dev.dblock.LockInterruptedException;
import dev.dblock.core.GivenUpLeases.GivenUp;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.Lease.Grant;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LeaseOwner;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.Outcome;
import dev.dblock.core.queue.Waiter;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.store.StoreTimeoutException;
import dev.dblock.store.UnreachableStoreException;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;

/**
 * Requests a lock from the store. Each attempt has its own id. An attempt without an
 * answer is given up: it is released, and its outcome is never queried. If the store
 * shows such an attempt as the holder, it was applied late. It is released, and the lock
 * is requested again.
 */
final class LockRequests {

	/**
	 * How long the look-up of a lock's holder may take, which delays a waiter further
	 * after a request that timed out.
	 */
	static final Duration LOOK = Duration.ofMillis(500);

	private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	/**
	 * With less time than this, another attempt would only hide the failure of the first
	 * one.
	 */
	private static final long SHORTEST_REPETITION_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Logger logger = LoggerFactory.getLogger(LockRequests.class);

	private final LockRepository repository;

	private final String acquirer;

	private final LeaseReleaser releaser;

	private final LeaseKeeper keeper;

	private final LockClock clock;

	private final PermitNumbers permits;

	LockRequests(LockRepository repository, String acquirer, LeaseReleaser releaser, LeaseKeeper keeper,
			LockClock clock) {
		this.repository = repository;
		this.acquirer = acquirer;
		this.releaser = releaser;
		this.keeper = keeper;
		this.clock = clock;
		this.permits = new PermitNumbers(clock);
	}

	private Duration left(LeaseDeadline end) {
		return Duration.ofNanos(Math.max(SHORTEST_NANOS, end.remainingNanos(this.clock)));
	}

	/**
	 * Request a lock. When the server that receives the request has failed or is no
	 * longer the primary, or grants the lock after its lease, it is requested once more
	 * in the time that is left. It is also requested again when an attempt that was given
	 * up is the holder, and was released.
	 * @param queue the queue of its name
	 * @param waiter the caller's place in the queue, if it waits
	 * @param terms the terms of the lease
	 * @param limit how long the whole attempt may take
	 * @return the outcome
	 */
	Outcome ask(LocalQueue queue, @Nullable Waiter waiter, LeaseTerms terms, Duration limit) {
		String why = LeaseOwner.onOneLine((terms.why() != null) ? terms.why() : CallSite.describe());
		String thread = LeaseOwner.nameOf(Thread.currentThread());
		LeaseDeadline end = LeaseDeadline.from(this.clock, limit);
		Duration left = limit;
		RuntimeException failure = null;
		while (true) {
			LeaseKey key = LeaseKey.of(queue.name(), this.clock.newId(), terms.permits());
			LeaseDeadline deadline = LeaseDeadline.from(this.clock, terms.lease());
			AcquireAnswer.Refused refused;
			try {
				AcquireRequest request = new AcquireRequest(key, terms.lease(), this.acquirer, thread, why, left,
						queue.tokens(waiter, terms), null, terms.askable());
				AcquireAnswer answer = this.repository
					.acquire((terms.claim() != null) ? request.withClaim(terms.claim()) : request);
				if (answer instanceof AcquireAnswer.Granted granted) {
					this.permits.compare(queue.name(), terms.permits(), granted);
					Grant grant = new Grant(key.granted(granted.permit()), granted.token(), granted.lastToken(),
							granted.acquiredAt(), why, granted.fenceRaised(), granted.claimed());
					return granted(queue, waiter,
							new Lease(grant, terms, Thread.currentThread(), deadline, this.clock));
				}
				refused = (AcquireAnswer.Refused) answer;
			}
			catch (LockException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				if (failure != null || !mayWorkAgain(ex, deadline) || isTooLate(end)) {
					if (!(ex instanceof UnreachableStoreException)) {
						this.releaser.releaseDoubtful(key, deadline, left, terms.inDoubt(key, ex));
					}
					return afterFailure(key, terms, ex);
				}
				logger.debug("A server did not grant the lock '{}' in time; it is requested again", key.name(), ex);
				failure = ex;
				this.releaser.releaseDoubtfulFirst(key, deadline, left, left(end).dividedBy(2), terms.inDoubt(key, ex));
				if (isTooLate(end)) {
					return afterFailure(key, terms, ex);
				}
				left = left(end);
				continue;
			}
			catch (Error ex) {
				this.releaser.releaseDoubtful(key, deadline, left, terms.inDoubt(key, ex));
				throw ex;
			}
			GivenUp late = findGivenUp(refused);
			if (late == null) {
				this.permits.compare(queue.name(), terms.permits(), refused);
				return new Outcome.Refused(refused.lock(), refused.verdict());
			}
			failure = (failure != null) ? failure : appliedLate(key.name());
			if (!this.releaser.release(late, left(end).dividedBy(2)) || isTooLate(end)) {
				return afterFailure(key, terms, failure);
			}
			left = left(end);
		}
	}

	private @Nullable GivenUp findGivenUp(AcquireAnswer.Refused refused) {
		return Stream.concat(Stream.of(refused.lock()), refused.permits().stream())
			.map(this.releaser::findGivenUp)
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private boolean isTooLate(LeaseDeadline end) {
		return end.remainingNanos(this.clock) < SHORTEST_REPETITION_NANOS;
	}

	/**
	 * Whether another attempt may succeed: at another server, or if the first request of
	 * this process took longer than a very short lease.
	 */
	private boolean mayWorkAgain(RuntimeException ex, LeaseDeadline deadline) {
		boolean elsewhere = ex instanceof DataAccessResourceFailureException
				&& !(ex instanceof UnreachableStoreException);
		boolean late = ex instanceof QueryTimeoutException && deadline.passed(this.clock);
		return (elsewhere || late) && !Thread.currentThread().isInterrupted();
	}

	private static QueryTimeoutException appliedLate(String name) {
		return new StoreTimeoutException(
				("The lock '%s' is not held. MongoDB granted it to an earlier request of this application, which was"
						+ " given up before it arrived, and there was no time left to request it again after the"
						+ " release of that grant. Try again, and check the network between this application and"
						+ " MongoDB")
					.formatted(name));
	}

	/**
	 * Accept a grant. The driver may repeat a request and receive a grant that was made,
	 * and lost, long ago. Therefore only an answer within the lease counts, on a machine
	 * that was not suspended in the meantime.
	 */
	private Outcome granted(LocalQueue queue, @Nullable Waiter waiter, Lease lease) {
		if (lease.isOver() || lease.isUnproven()) {
			throw new StoreTimeoutException(
					("The grant of the lock '%s' arrived so late that its lease of %s may have ended, so it is not"
							+ " used. The server or the network is slower than the lease allows, or this machine was"
							+ " suspended")
						.formatted(lease.key().name(), Durations.readable(lease.terms().lease())));
		}
		queue.granted(lease, waiter);
		return new Outcome.Granted(this.keeper.keep(lease));
	}

	private Outcome afterFailure(LeaseKey key, LeaseTerms terms, RuntimeException ex) {
		if (ex instanceof RepositoryInterruptedException) {
			throw new LockInterruptedException(key.name(), ex);
		}
		if (terms.waitUpTo().isZero() || !isPassing(ex)) {
			throw ex;
		}
		logger.debug("An attempt to acquire the lock '{}' failed and is retried", key.name(), ex);
		return whoHolds(key, (DataAccessException) ex);
	}

	private static boolean isPassing(RuntimeException ex) {
		return ex instanceof TransientDataAccessException || ex instanceof RecoverableDataAccessException
				|| ex instanceof DataAccessResourceFailureException;
	}

	/**
	 * Look up the holder after a timeout. Without a majority of the servers the lock
	 * cannot be granted, but one of them may still know its holder.
	 */
	private Outcome whoHolds(LeaseKey key, DataAccessException failure) {
		if (!(failure instanceof QueryTimeoutException) || key.permits() > 1) {
			return new Outcome.Failed(failure);
		}
		try {
			Optional<LockInfo> lock = this.repository.find(key.name(), LOOK);
			return lock.filter((info) -> info.held() && this.releaser.findGivenUp(info) == null)
				.<Outcome>map(Outcome.Refused::new)
				.orElseGet(() -> new Outcome.Failed(failure));
		}
		catch (DataAccessException ex) {
			failure.addSuppressed(ex);
			return new Outcome.Failed(failure);
		}
	}

}
