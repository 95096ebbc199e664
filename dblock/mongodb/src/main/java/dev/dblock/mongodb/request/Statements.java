package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AskAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import org.jspecify.annotations.Nullable;

/**
 * The requests in one dialect. Each has the effect that
 * {@link dev.dblock.store.LockRepository} or {@link dev.dblock.claim.ClaimRecords}
 * specifies for the method with the same name, and throws the exceptions of the driver.
 */
public interface Statements {

	Acquired acquire(StoreRequest store, AcquireRequest request);

	Map<LeaseKey, Optional<LockInfo>> renew(StoreRequest store, Collection<LeaseKey> leases, boolean fenceIsRaised);

	boolean extend(StoreRequest store, LeaseKey lease, Duration atLeast);

	boolean extendExactly(StoreRequest store, LeaseKey lease, Duration duration);

	boolean release(StoreRequest store, LeaseKey lease, Duration minHoldLeft, FenceMark mark, Claim.@Nullable End end);

	AskAnswer ask(StoreRequest store, String name, String id);

	Optional<String> closeRequests(StoreRequest store, LeaseKey lease, @Nullable String seen);

	Optional<ClaimRecord.Status> expire(StoreRequest store, String name, ClaimRecord.Request request);

	void pause(StoreRequest store, String name, Claim.Key key, String by);

	boolean resume(StoreRequest store, String name, Claim.Key key);

	Optional<ClaimRecord.Status> findRecord(StoreRequest store, String name, Claim.Key key);

	Map<String, ClaimRecord.Status> findRecords(StoreRequest store, Map<String, Claim.Key> keys);

	Optional<ClaimRecord.Status> findLastingRecord(StoreRequest store, String name, Claim.Key key);

	Optional<LockInfo> find(StoreRequest store, String name);

	LockPage findAll(StoreRequest store, ListRequest request);

	boolean forceRelease(StoreRequest store, String name);

	boolean forceReleaseNow(StoreRequest store, String name);

	/**
	 * The result of an acquire.
	 *
	 * @param answer the answer
	 * @param fencePending whether a transaction of an earlier holder may be in progress
	 * @param malformed whether it was refused since no grant can use its claim's record
	 * @param grantable whether it was refused although its claim's rules would have
	 * granted it
	 */
	record Acquired(AcquireAnswer answer, boolean fencePending, boolean malformed, boolean grantable) {
	}

}
