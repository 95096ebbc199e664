package dev.dblock.core;

import java.time.Duration;
import java.util.Objects;

import dev.dblock.core.lease.LockClock;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.RepositoryInterruptedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;

/**
 * Records whether the store grants locks, from the last request or check. A failure
 * counts until a lock is granted or a check succeeds. A refusal proves nothing: a server
 * without a majority still sends refusals.
 */
final class StoreHealth {

	/** Only the fixed prefix is added: others depend on the call. */
	private static final String NAME = "dblock-check";

	private static final Duration LEASE = Duration.ofSeconds(1);

	private static final Duration SHORTEST = Duration.ofMillis(1);

	private static final Logger logger = LoggerFactory.getLogger(StoreHealth.class);

	private final LockRepository repository;

	private final String prefix;

	private final String acquirer;

	private final LockClock clock;

	private volatile @Nullable Failure failure;

	StoreHealth(LockRepository repository, String prefix, String acquirer, LockClock clock) {
		this.repository = repository;
		this.prefix = prefix;
		this.acquirer = acquirer;
		this.clock = clock;
	}

	boolean isFailing() {
		return this.failure != null;
	}

	/**
	 * Note that a lock was granted.
	 */
	void granted() {
		Failure past = this.failure;
		if (past != null) {
			this.failure = null;
			if (past.ofCheck()) {
				logger.info("Locks can be acquired again in {}", this.repository);
			}
		}
	}

	/**
	 * Note that a request for a lock failed. Only failures of the store count.
	 */
	void failed(Throwable thrown) {
		if (thrown instanceof DataAccessException ex && !(ex instanceof RepositoryInterruptedException)) {
			Failure past = this.failure;
			this.failure = new Failure(ex, true, past != null && past.ofCheck());
		}
	}

	/**
	 * Check whether locks can be acquired. After a request for a lock has failed, only a
	 * grant shows that, since a failure may concern only writes: they have to be
	 * confirmed by a majority, and accepted by a validator of the collection.
	 * @param timeout how long that may take
	 * @throws DataAccessException if locks cannot be acquired, with the reason
	 */
	void run(Duration timeout) {
		long start = this.clock.pauseNanos();
		Failure past = this.failure;
		DataAccessException ofRequest = (past != null && past.ofRequest()) ? past.thrown() : null;
		try {
			this.repository.check(timeout);
			if (ofRequest != null && !isGranted(timeout.minusNanos(this.clock.pauseNanos() - start))) {
				throw ofRequest;
			}
			// A request may have failed during a check that acquires no lock
			if (ofRequest != null || Objects.equals(this.failure, past)) {
				granted();
			}
		}
		catch (RepositoryInterruptedException ex) {
			throw ex;
		}
		catch (DataAccessException ex) {
			this.failure = new Failure(ex, ofRequest != null, true);
			throw ex;
		}
	}

	// Refused while another instance does the same
	private boolean isGranted(Duration left) {
		Duration timeout = (left.compareTo(SHORTEST) > 0) ? left : SHORTEST;
		LeaseKey key = new LeaseKey(this.prefix + NAME, this.clock.newId());
		AcquireAnswer answer = this.repository.acquire(new AcquireRequest(key, LEASE, this.acquirer,
				Thread.currentThread().getName(), "check whether locks can be acquired", timeout));
		if (answer instanceof AcquireAnswer.Granted) {
			this.repository.release(key, Duration.ZERO, FenceMark.KEEP, null, timeout);
			return true;
		}
		return false;
	}

	/**
	 * A failure that counts.
	 *
	 * @param thrown the failure
	 * @param ofRequest whether a request for a lock failed
	 * @param ofCheck whether a check failed, which was reported
	 */
	private record Failure(DataAccessException thrown, boolean ofRequest, boolean ofCheck) {
	}

}
