package dev.dblock.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.job.JobStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.reactive.TransactionContext;

/**
 * Where the locks are kept. Each method is one request (in the rare case two), repeatable
 * without harm, decided by the store's clock, and outside any transaction of the calling
 * thread. Whatever goes wrong is thrown as Spring's
 * {@link org.springframework.dao.DataAccessException}; when a time limit ran out after a
 * server was found, as its subclass {@link org.springframework.dao.QueryTimeoutException}
 * (a shorter list of leases may succeed); when no server was found that takes writes, as
 * {@link org.springframework.dao.DataAccessResourceFailureException}, and as its subclass
 * {@link UnreachableStoreException} if nothing of the request was sent; when it may be
 * done a little later, as {@link org.springframework.dao.TransientDataAccessException};
 * when the thread was interrupted, with its interrupt status set, as a
 * {@link dev.dblock.store.RepositoryInterruptedException}.
 */
public interface LockRepository {

	/**
	 * Grant the lock to an acquisition, if its name is free. Where a transaction of an
	 * earlier holder may still be under way, none of those can be committed any more when
	 * this returns.
	 * @param request what is asked for
	 * @return the grant, or the state of the lock that somebody else has
	 * @throws dev.dblock.ForeignDocumentException when something else is stored under the
	 * name; it is left as it is
	 */
	AcquireAnswer acquire(AcquireRequest request);

	/**
	 * Prolong leases that have not ended by the store's clock, each to one lease from now
	 * (never shortening it).
	 * @param leases the leases to renew
	 * @param timeout how long the request may take in all
	 * @return of those that were not renewed because they are gone, the present state of
	 * the lock; empty when there is no document any more
	 */
	Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout);

	/**
	 * Prolong one lease that has not ended by the store's clock, to at least the given
	 * time from now.
	 * @param lease the lease
	 * @param atLeast how long it is to last at least
	 * @param timeout how long the request may take in all
	 * @return whether it was still held
	 */
	boolean extend(LeaseKey lease, Duration atLeast, Duration timeout);

	/**
	 * Give a lock back.
	 * @param lease the lease
	 * @param minHoldLeft how long the name is to stay taken; zero frees it at once
	 * @param timeout how long the request may take in all
	 * @return whether this acquisition was still the holder, expired or not
	 */
	default boolean release(LeaseKey lease, Duration minHoldLeft, Duration timeout) {
		return release(lease, minHoldLeft, FenceMark.KEEP, timeout);
	}

	/**
	 * Release a lock.
	 * @param lease the lease
	 * @param minHoldLeft how long the name remains unavailable; zero frees it at once
	 * @param mark what the next holder learns about transactions of earlier ones
	 * @param timeout how long the request may take in all
	 * @return whether this acquisition was still the holder, expired or not
	 */
	default boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, Duration timeout) {
		return release(lease, minHoldLeft, mark, null, timeout);
	}

	/**
	 * Release a lock and record how a run of a job ended. If the record does not accept
	 * that, because it was edited by hand, the lock is released without it.
	 * @param lease the lease
	 * @param minHoldLeft how long the name remains unavailable; zero frees it at once
	 * @param mark what the next holder learns about transactions of earlier ones
	 * @param end how the run ended; {@code null} for a plain lock
	 * @param timeout how long the request may take in all
	 * @return whether this acquisition was still the holder, expired or not
	 */
	boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, @Nullable RunEnd end, Duration timeout);

	/**
	 * Pause a job, whether or not its lock was ever acquired. Its firings are refused
	 * until it is resumed; a run that has begun goes on.
	 * @param name the full name of the lock
	 * @param jobId the id of the job
	 * @param by who pauses it
	 * @throws dev.dblock.ForeignDocumentException when something else is stored under the
	 * name
	 */
	void pauseJob(String name, String jobId, String by);

	/**
	 * Resume a job.
	 * @param name the full name of the lock
	 * @param jobId the id of the job
	 * @return whether it was paused
	 */
	boolean resumeJob(String name, String jobId);

	/**
	 * Read the run record of a job.
	 * @param name the full name of the lock
	 * @param jobId the id of the job
	 * @return its record, or empty if nothing is stored under the name
	 * @throws dev.dblock.ForeignDocumentException when something else is stored under the
	 * name
	 */
	Optional<JobStatus> findJob(String name, String jobId);

	/**
	 * Read the run record of a job within a time limit.
	 * @param name the full name of the lock
	 * @param jobId the id of the job
	 * @param timeout how long the request may take in all
	 * @return its record, or empty if nothing is stored under the name
	 * @throws dev.dblock.ForeignDocumentException when something else is stored under the
	 * name
	 */
	default Optional<JobStatus> findJob(String name, String jobId, Duration timeout) {
		return findJob(name, jobId);
	}

	/**
	 * Look at one lock.
	 * @param name its full name
	 * @return its state, or empty when there is no document
	 * @throws dev.dblock.ForeignDocumentException when something else is stored under the
	 * name
	 */
	Optional<LockInfo> find(String name);

	/**
	 * Look at one lock for somebody who has not much time.
	 * @param name its full name
	 * @param timeout how long the request may take in all
	 * @return its state, or empty when there is no document
	 * @throws dev.dblock.ForeignDocumentException when something else is stored under the
	 * name
	 */
	Optional<LockInfo> find(String name, Duration timeout);

	/**
	 * Look at all locks whose names begin with a prefix. Documents that are not locks are
	 * passed over.
	 * @param prefix the beginning of the names, taken literally
	 * @return their states, by name
	 */
	List<LockInfo> findAll(String prefix);

	/**
	 * Remove the holder of a lock; its name stays taken until the lease ends.
	 * @param name its full name
	 * @return whether it had a holder
	 */
	boolean forceRelease(String name);

	/**
	 * Remove the holder of a lock and free its name at once.
	 * @param name its full name
	 * @return whether it had a holder or was still taken
	 */
	boolean forceReleaseNow(String name);

	/**
	 * Read the clock that decides about leases, in a way that also shows whether locks
	 * can be read.
	 * @param timeout how long that may take
	 * @return what it shows, or empty when the store cannot tell
	 */
	default Optional<StoreTime> time(Duration timeout) {
		return Optional.empty();
	}

	/**
	 * What makes the transactions of a manager depend on locks that are kept here. Asks
	 * nothing of the store.
	 * @param manager the manager
	 * @return the fence, or {@code null} where there is none: the manager's transactions
	 * are those of another store, or this one has none
	 */
	@Nullable TransactionFence fenceFor(PlatformTransactionManager manager);

	/**
	 * What makes a reactive transaction that is open depend on locks that are kept here.
	 * Asks nothing of the store.
	 * @param transaction the transaction
	 * @return the fence, which may block whoever writes it, or {@code null} where there
	 * is none: the transaction is that of another store, or this one has none
	 */
	default @Nullable TransactionFence fenceFor(TransactionContext transaction) {
		return null;
	}

	/**
	 * What tells of releases, if the store can. The same feed at every call.
	 * @return the feed
	 */
	default ReleaseFeed releases() {
		return ReleaseFeed.NONE;
	}

}
