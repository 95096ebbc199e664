package dev.dblock.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.claim.Claimed;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.reactive.TransactionContext;

/**
 * The store of the locks. Each method sends one request, in rare cases more. A request
 * can be repeated safely, is decided by the store's clock, and runs outside any
 * transaction of the calling thread. Every failure is thrown as Spring's
 * {@link org.springframework.dao.DataAccessException}. Some failures have a subclass of
 * their own:
 * <ul>
 * <li>{@link org.springframework.dao.QueryTimeoutException} if a time limit expired after
 * a server was found (a shorter list of leases may succeed)</li>
 * <li>{@link org.springframework.dao.DataAccessResourceFailureException} if no server was
 * found that accepts writes, and its subclass {@link UnreachableStoreException} if no
 * part of the request was sent</li>
 * <li>{@link org.springframework.dao.TransientDataAccessException} if the request may
 * succeed a little later</li>
 * <li>{@link dev.dblock.store.RepositoryInterruptedException} if the thread was
 * interrupted; its interrupt status is then set</li>
 * </ul>
 */
public interface LockRepository {

	/**
	 * Check that the locks of the calling thread are those of this store. Called before
	 * each attempt to acquire a lock, even if another thread of this process has the
	 * lock. Sends no request to the store.
	 * @throws org.springframework.dao.DataAccessException if the configuration of the
	 * application chooses another store for the thread
	 */
	default void checkCaller() {
	}

	/**
	 * Grant the lock to an acquisition, if the lock is free. If transactions of an
	 * earlier holder may still be in progress, none of them can be committed any more
	 * when this method returns.
	 * <p>
	 * If the key asks for {@linkplain LeaseKey#permits permits}, any free permit with a
	 * number up to that is granted, as a lock of its own under its {@linkplain Permits#id
	 * name}, and records the number that was asked for. Instances that ask for different
	 * numbers have at most the larger number of holders together. A plain lock is refused
	 * while the number that was recorded last under its name is above one.
	 * @param request the request
	 * @return the grant, or the state of the lock if it has another holder
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name; it remains unchanged
	 */
	AcquireAnswer acquire(AcquireRequest request);

	/**
	 * Extend leases that have not ended by the store's clock, each to one lease from now.
	 * A lease is never shortened.
	 * @param leases the leases to renew
	 * @param timeout how long the request may take in total
	 * @return for each lease that was not renewed because it is gone, the current state
	 * of its lock; empty if there is no document any more
	 */
	Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout);

	/**
	 * Extend one lease that has not ended by the store's clock, to at least the given
	 * time from now.
	 * @param lease the lease
	 * @param atLeast how long it must last at least
	 * @param timeout how long the request may take in total
	 * @return whether it was still held
	 */
	boolean extend(LeaseKey lease, Duration atLeast, Duration timeout);

	/**
	 * Let one lease that has not ended by the store's clock end exactly after the given
	 * time from now, even if it would otherwise last longer. The request has an effect
	 * only if no renewal or extension of the lease was applied since this method was
	 * called, and none is applied by a request that was sent later. So a request that is
	 * delayed cannot shorten a lease that was confirmed after it.
	 * @param lease the lease
	 * @param duration how long it must last
	 * @param timeout how long the request may take in total
	 * @return whether it was still held
	 */
	boolean extendExactly(LeaseKey lease, Duration duration, Duration timeout);

	/**
	 * Return for how much longer than its lease a lock remains unavailable, so that
	 * clocks may differ. A suspension of this machine may use up half of it, at most 250
	 * milliseconds, before a lease counts as unproven.
	 * @return the clock allowance
	 */
	default Duration clockAllowance() {
		return Duration.ofMillis(500);
	}

	/**
	 * Release a lock and record how the grant of a claim ended. If the record does not
	 * accept that, because it was edited by hand, the lock is released without it.
	 * @param lease the lease
	 * @param minHoldLeft how long the lock remains unavailable; with zero, it becomes
	 * available immediately
	 * @param mark the information for the next holder about transactions of earlier
	 * holders
	 * @param end how the grant ended; {@code null} for a plain lock
	 * @param timeout how long the request may take in total
	 * @return whether this acquisition was still the holder, expired or not
	 */
	boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, Claim.@Nullable End end, Duration timeout);

	/**
	 * Ask the holder of a lock to run its work once more before it releases the lock. The
	 * request is recorded for the holder, whose next {@link #closeRequests} returns it.
	 * @param name the full name of the lock
	 * @param id the random id of the request
	 * @param timeout how long the request may take in total
	 * @return whether the holder will run its work once more, unless it loses the lock
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name
	 */
	default AskAnswer ask(String name, String id, Duration timeout) {
		return AskAnswer.NOT_ASKABLE;
	}

	/**
	 * Refuse requests to run once more from now on, unless there is one that the holder
	 * has not seen yet.
	 * @param lease the lease, which was requested as one whose holder can be asked
	 * @param seen the id of the last request that the holder has seen; {@code null} if
	 * there was none
	 * @param timeout how long the request may take in total
	 * @return the id of a request that the holder has to serve by another run; empty if
	 * there is none, or if the acquisition is no longer the holder
	 */
	default Optional<String> closeRequests(LeaseKey lease, @Nullable String seen, Duration timeout) {
		return Optional.empty();
	}

	/**
	 * Return the state of one lock.
	 * @param name its full name
	 * @return its state, or empty if there is no document
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name
	 */
	Optional<LockInfo> find(String name);

	/**
	 * Return the state of one lock within a time limit.
	 * @param name its full name
	 * @param timeout how long the request may take in total
	 * @return its state, or empty if there is no document
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name
	 */
	Optional<LockInfo> find(String name, Duration timeout);

	/**
	 * Return the states of locks whose names begin with a prefix. Documents that are not
	 * locks are ignored.
	 * @param request which of them
	 * @return their states, by name
	 */
	LockPage findAll(ListRequest request);

	/**
	 * Remove the holder of a lock; the lock remains unavailable until the lease ends.
	 * @param name its full name
	 * @return whether it had a holder
	 */
	boolean forceRelease(String name);

	/**
	 * Remove the holder of a lock and make the lock available immediately.
	 * @param name its full name
	 * @return whether it had a holder or was still unavailable
	 */
	boolean forceReleaseNow(String name);

	/**
	 * Read the clock that decides about leases, by a request that also shows whether
	 * locks can be read.
	 * @param timeout how long that may take
	 * @return the time, or empty if the store cannot report it
	 */
	default Optional<StoreTime> time(Duration timeout) {
		return Optional.empty();
	}

	/**
	 * Check whether the store accepts the requests that locks need. This changes no lock,
	 * and leaves nothing behind that the first lock would not create.
	 * @param timeout how long that may take
	 * @throws org.springframework.dao.DataAccessException if it does not, with the reason
	 */
	default void check(Duration timeout) {
	}

	/**
	 * Return the fence that makes the transactions of a manager depend on locks in this
	 * store. Sends no request to the store.
	 * @param manager the manager
	 * @return the fence, or {@code null} if there is none: the manager's transactions are
	 * those of another store, or this store has none
	 */
	@Nullable TransactionFence fenceFor(PlatformTransactionManager manager);

	/**
	 * Return the fence that makes an open reactive transaction depend on locks in this
	 * store. Sends no request to the store.
	 * @param transaction the transaction
	 * @return the fence, which may block the thread that writes it, or {@code null} if
	 * there is none: the transaction is that of another store, or this store has none
	 */
	default @Nullable TransactionFence fenceFor(TransactionContext transaction) {
		return null;
	}

	/**
	 * Return the records of claims in this store.
	 * @return the records; empty if this store grants locks without claims only
	 */
	default Optional<ClaimRecords> claims() {
		return Optional.empty();
	}

	/**
	 * Return the feed that reports releases, if the store supports that. The same feed is
	 * returned at every call.
	 * @return the feed
	 */
	default ReleaseFeed releases() {
		return ReleaseFeed.NONE;
	}

	/**
	 * Effect of a release on the fence mark. The mark makes the next holder raise the
	 * fence, since a transaction of an earlier holder may still be in progress.
	 */
	enum FenceMark {

		/**
		 * Keep it unchanged: this acquisition has not raised the fence.
		 */
		KEEP,

		/**
		 * Remove it: the fence was raised when the lock was granted.
		 */
		CLEAR,

		/**
		 * Set it: the outcome of a transaction of this acquisition is not known.
		 */
		SET

	}

	/**
	 * The answer to a request to run once more.
	 */
	enum AskAnswer {

		/**
		 * The holder has been asked.
		 */
		ASKED,

		/**
		 * There is no holder that takes requests: the lock is free or in its minimum
		 * hold, or its holder has closed the requests and is about to release it.
		 */
		NO_HOLDER,

		/**
		 * The lock is held for work that is not repeated.
		 */
		NOT_ASKABLE

	}

	/**
	 * The time of a store's clock, as far as it can be determined by a client.
	 *
	 * @param notBefore the earliest time that the clock can show
	 * @param notAfter the latest time that the clock can show
	 */
	record StoreTime(Instant notBefore, Instant notAfter) {
	}

	/**
	 * The store's answer to an {@link AcquireRequest}.
	 */
	sealed interface AcquireAnswer {

		/**
		 * The lock is granted to the caller.
		 *
		 * @param token the fencing token of the grant
		 * @param lastToken the last token of the block that was reserved with it
		 * @param acquiredAt when it was granted, by the store's clock
		 * @param fenceRaised whether the fence was raised against an earlier holder,
		 * whose transactions can no longer be committed
		 * @param claimed what was recorded for its claim; {@code null} for a plain lock
		 * @param permit the number of the permit; 1 for a plain lock
		 * @param earlierPermits how many permits the lock had according to the earlier
		 * grant of this permit, if that is another number than the requested one;
		 * otherwise zero
		 */
		record Granted(long token, long lastToken, Instant acquiredAt, boolean fenceRaised, @Nullable Claimed claimed,
				int permit, int earlierPermits) implements AcquireAnswer {

			/**
			 * Create the answer for a plain lock.
			 * @param token the fencing token of the grant
			 * @param lastToken the last token of the block that was reserved with it
			 * @param acquiredAt when it was granted, by the store's clock
			 * @param fenceRaised whether the fence was raised against an earlier holder
			 * @param claimed what was recorded for its claim
			 */
			public Granted(long token, long lastToken, Instant acquiredAt, boolean fenceRaised,
					@Nullable Claimed claimed) {
				this(token, lastToken, acquiredAt, fenceRaised, claimed, 1, 0);
			}

		}

		/**
		 * The lock is held by another acquisition, or in its minimum hold, or the record
		 * of its claim does not allow it.
		 *
		 * @param lock its state; of several permits, that of the one which becomes
		 * available first unless it is renewed
		 * @param verdict why its claim was refused; {@code null} if the lock is held for
		 * another purpose
		 * @param permits the states of all permits; empty for a plain lock
		 */
		record Refused(LockInfo lock, Claim.@Nullable Verdict verdict,
				List<LockInfo> permits) implements AcquireAnswer {

			/**
			 * Create the answer for a lock that is held, or in its minimum hold.
			 * @param lock its state
			 */
			public Refused(LockInfo lock) {
				this(lock, null);
			}

			/**
			 * Create the answer for a plain lock, or one whose claim was refused.
			 * @param lock its state
			 * @param verdict why its claim was refused
			 */
			public Refused(LockInfo lock, Claim.@Nullable Verdict verdict) {
				this(lock, verdict, List.of());
			}

			/**
			 * Create the answer for a lock whose permits all have other holders.
			 * @param permits the states of all permits
			 */
			public Refused(List<LockInfo> permits) {
				this(Collections.min(permits, Comparator.comparing(LockInfo::remaining)), null, List.copyOf(permits));
			}

		}

	}

}
