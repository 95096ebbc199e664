package dev.dblock.claim;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The records of claims in a store, for operators. Locks are given by their full names.
 * Failures are thrown as Spring's {@link org.springframework.dao.DataAccessException}.
 */
public interface ClaimRecords {

	/**
	 * Read a record.
	 * @param lock the full name of its lock
	 * @param key the record
	 * @param limit how long the server may take to answer; {@code null} for the default
	 * @return the record, or empty if nothing is stored under the name of the lock
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name
	 */
	Optional<ClaimRecord.Status> find(String lock, Claim.Key key, @Nullable Duration limit);

	/**
	 * Read records of several locks, which takes one request where the store can do that.
	 * @param keys the record of each lock, by the full name of the lock
	 * @param limit how long the server may take to answer a request; {@code null} for the
	 * default
	 * @return the records by the names of their locks, without those under whose name
	 * nothing is stored
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under one of the names
	 */
	default Map<String, ClaimRecord.Status> findAll(Map<String, Claim.Key> keys, @Nullable Duration limit) {
		Map<String, ClaimRecord.Status> found = new HashMap<>();
		keys.forEach((lock, key) -> find(lock, key, limit).ifPresent((status) -> found.put(lock, status)));
		return found;
	}

	/**
	 * Read a record as it lasts. A server that no longer is the primary without knowing
	 * it answers {@link #find} with what it has, which can be outdated, or lost later.
	 * @param lock the full name of its lock
	 * @param key the record
	 * @param limit how long the server may take to answer; {@code null} for the default
	 * @return the record, or empty if nothing is stored under the name of the lock
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name
	 */
	default Optional<ClaimRecord.Status> findLasting(String lock, Claim.Key key, @Nullable Duration limit) {
		return find(lock, key, limit);
	}

	/**
	 * Record that a claim has expired, which was refused because it came too late.
	 * @param lock the full name of the lock
	 * @param request the claim, its record, and the instance that records this
	 * @param limit how long the server may take to answer; {@code null} for the default
	 * @return the record; empty if there is nothing to record, because another instance
	 * did so, or the claim is not too late. A repeated request returns the record again
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name
	 */
	Optional<ClaimRecord.Status> expire(String lock, ClaimRecord.Request request, @Nullable Duration limit);

	/**
	 * Pause the claims of a record, whether or not the lock was ever acquired. They are
	 * refused until they are resumed; work that has begun continues.
	 * @param lock the full name of the lock
	 * @param key the record
	 * @param by the operator that pauses them
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name
	 */
	void pause(String lock, Claim.Key key, String by);

	/**
	 * Resume the claims of a record.
	 * @param lock the full name of the lock
	 * @param key the record
	 * @return whether they were paused
	 * @throws dev.dblock.ForeignDocumentException if something other than a lock is
	 * stored under the name
	 */
	boolean resume(String lock, Claim.Key key);

}
