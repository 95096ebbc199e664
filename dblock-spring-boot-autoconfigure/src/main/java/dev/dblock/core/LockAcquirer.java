package dev.dblock.core;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockAttempt;
import dev.dblock.LockException;
import dev.dblock.LockGrant;
import dev.dblock.LockInfo;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;

/**
 * Asks for a lock until it is granted or the wait is over. Each attempt has an id of its
 * own; one whose answer is missing is given back, and never asked about again.
 */
final class LockAcquirer {

	/**
	 * The last request of a waiter may take this long even if less of the wait is left:
	 * with less, a server that is only busy could never answer it.
	 */
	private static final Duration SHORTEST_REQUEST = Duration.ofSeconds(1);

	private static final Logger logger = LoggerFactory.getLogger(LockAcquirer.class);

	private final LockRepository repository;

	private final EngineSettings settings;

	private final ContentionWaiter waiter;

	private final LeaseReleaser releaser;

	private final LeaseKeeper keeper;

	private final LockClock clock;

	private final HolderIds ids = new HolderIds();

	private volatile boolean waitersRefused;

	private volatile boolean closed;

	LockAcquirer(LockRepository repository, EngineSettings settings, ContentionWaiter waiter, LeaseReleaser releaser,
			LeaseKeeper keeper, LockClock clock) {
		this.repository = repository;
		this.settings = settings;
		this.waiter = waiter;
		this.releaser = releaser;
		this.keeper = keeper;
		this.clock = clock;
	}

	/**
	 * Ask for a lock.
	 * @param name the full name of the lock
	 * @param terms how to wait for it and hold it
	 * @return the grant or the refusal
	 */
	LockAttempt acquire(String name, LeaseTerms terms) {
		long start = this.clock.nanoTime();
		long waitNanos = terms.waitUpTo().toNanos();
		String why = (terms.why() != null) ? terms.why() : CallSite.describe();
		long leftNanos = waitNanos;
		for (int refusals = 1;; refusals++) {
			refuseIfUnwanted(name);
			Outcome outcome = ask(name, terms, why, requestLimit(terms, leftNanos));
			if (outcome.handle != null) {
				return new LockGrant(outcome.handle);
			}
			leftNanos = waitNanos - (this.clock.nanoTime() - start);
			if (leftNanos <= 0) {
				return outcome.refusal(name, Duration.ofNanos((waitNanos > 0) ? waitNanos - leftNanos : 0));
			}
			await(name, refusals, outcome.expiryNanos(), leftNanos);
			leftNanos = waitNanos - (this.clock.nanoTime() - start);
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

	private Duration requestLimit(LeaseTerms terms, long leftNanos) {
		Duration limit = shorter(this.settings.timeout(), terms.lease());
		if (terms.waitUpTo().isZero()) {
			return limit;
		}
		Duration left = Duration.ofNanos(Math.max(leftNanos, SHORTEST_REQUEST.toNanos()));
		return shorter(limit, left);
	}

	private static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) <= 0) ? one : other;
	}

	private void await(String name, int refusals, long expiryNanos, long leftNanos) {
		if (!this.waitersRefused) {
			try {
				this.waiter.await(name, refusals, expiryNanos, leftNanos);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new LockInterruptedException(name, ex);
			}
		}
		if (this.waitersRefused) {
			throw new LockShutdownException(name);
		}
	}

	private Outcome ask(String name, LeaseTerms terms, String why, Duration limit) {
		LeaseKey key = new LeaseKey(name, this.ids.next());
		LeaseDeadline deadline = LeaseDeadline.from(this.clock, terms.lease());
		AcquireAnswer answer;
		try {
			answer = this.repository
				.acquire(new AcquireRequest(key, terms.lease(), this.settings.acquirer(), threadName(), why, limit));
		}
		catch (LockException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			this.releaser.releaseDoubtful(key, limit);
			return afterFailure(key, terms, ex);
		}
		if (answer instanceof AcquireAnswer.Refused refused) {
			return Outcome.refused(refused.lock());
		}
		return granted(new Lease(key, terms, ((AcquireAnswer.Granted) answer).token(), deadline, this.clock), limit);
	}

	private static String threadName() {
		Thread thread = Thread.currentThread();
		String name = thread.getName();
		return name.isEmpty() ? "thread-" + thread.getId() : name;
	}

	/**
	 * A driver's retry may be answered with a grant that was given, and lost, long ago;
	 * so only an answer within the lease counts.
	 */
	private Outcome granted(Lease lease, Duration limit) {
		if (lease.isOver()) {
			this.releaser.releaseDoubtful(lease.key(), limit);
			return afterFailure(lease.key(), lease.terms(), new QueryTimeoutException(
					("The grant of the lock '%s' was answered when its lease of %s was over already, and is not used. "
							+ "The server or the network is slower than the lease allows")
						.formatted(lease.key().name(), lease.terms().lease())));
		}
		LeaseHandle handle = this.keeper.keep(lease);
		if (this.closed) {
			this.keeper.releaseNow(handle);
			throw new LockShutdownException(lease.key().name());
		}
		return Outcome.granted(handle);
	}

	private Outcome afterFailure(LeaseKey key, LeaseTerms terms, RuntimeException ex) {
		if (ex instanceof RepositoryInterruptedException) {
			throw new LockInterruptedException(key.name(), ex);
		}
		if (terms.waitUpTo().isZero() || !isPassing(ex)) {
			throw ex;
		}
		logger.debug("An attempt to acquire the lock '{}' failed and is repeated", key.name(), ex);
		return whoHolds(key, (DataAccessException) ex);
	}

	private static boolean isPassing(RuntimeException ex) {
		return ex instanceof TransientDataAccessException || ex instanceof RecoverableDataAccessException
				|| ex instanceof DataAccessResourceFailureException;
	}

	/**
	 * Without a majority of the servers nobody can be granted the lock, but one of them
	 * may still know who has it.
	 */
	private Outcome whoHolds(LeaseKey key, DataAccessException failure) {
		if (!(failure instanceof QueryTimeoutException)) {
			return Outcome.failed(failure);
		}
		try {
			Optional<LockInfo> lock = this.repository.find(key.name());
			return lock.filter((info) -> info.held() && !key.holder().equals(info.holder()))
				.map(Outcome::refused)
				.orElseGet(() -> Outcome.failed(failure));
		}
		catch (DataAccessException ex) {
			failure.addSuppressed(ex);
			return Outcome.failed(failure);
		}
	}

	/**
	 * Let nobody wait any more. Who needs not wait is still served.
	 */
	void refuseWaiters() {
		this.waitersRefused = true;
		this.waiter.close();
	}

	/**
	 * Serve nobody any more.
	 */
	void close() {
		this.closed = true;
		refuseWaiters();
	}

	/**
	 * What one attempt came to: exactly one of the three is there.
	 */
	private record Outcome(@Nullable LeaseHandle handle, @Nullable LockInfo holder,
			@Nullable DataAccessException failure) {

		static Outcome granted(LeaseHandle handle) {
			return new Outcome(handle, null, null);
		}

		static Outcome refused(LockInfo holder) {
			return new Outcome(null, holder, null);
		}

		static Outcome failed(DataAccessException failure) {
			return new Outcome(null, null, failure);
		}

		LockRefusal refusal(String name, Duration waited) {
			if (this.failure != null) {
				throw this.failure;
			}
			return new LockRefusal(name, this.holder, waited);
		}

		long expiryNanos() {
			return (this.holder != null) ? TimeUnit.MILLISECONDS.toNanos(this.holder.remaining().toMillis())
					: Long.MAX_VALUE;
		}

	}

}
