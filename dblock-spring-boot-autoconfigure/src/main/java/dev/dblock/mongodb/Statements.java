package dev.dblock.mongodb;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.core.AcquireAnswer;
import dev.dblock.core.AcquireRequest;
import dev.dblock.core.FenceMark;
import dev.dblock.core.LeaseKey;

/**
 * The requests in one dialect. Each has the effect that
 * {@link dev.dblock.core.LockRepository} states for the method of the same name, and
 * throws what the driver throws.
 */
interface Statements {

	Acquired acquire(StoreRequest store, AcquireRequest request);

	Map<LeaseKey, Optional<LockInfo>> renew(StoreRequest store, Collection<LeaseKey> leases, boolean fenceIsRaised);

	boolean extend(StoreRequest store, LeaseKey lease, long atLeastMillis);

	boolean release(StoreRequest store, LeaseKey lease, long minHoldMillis, FenceMark mark);

	Optional<LockInfo> find(StoreRequest store, String name);

	List<LockInfo> findAll(StoreRequest store, String prefix);

	boolean forceRelease(StoreRequest store, String name);

	boolean forceReleaseNow(StoreRequest store, String name);

	/**
	 * What came of an acquire.
	 *
	 * @param answer the answer
	 * @param created whether the document is new
	 * @param fencePending whether a transaction of an earlier holder may be under way
	 */
	record Acquired(AcquireAnswer answer, boolean created, boolean fencePending) {

		static Acquired granted(LockDocument document, int tokens, boolean created) {
			long last = document.token();
			return new Acquired(new AcquireAnswer.Granted(last - tokens + 1, last, document.acquiredAt()), created,
					document.isFencePending());
		}

		static Acquired refused(LockDocument document, long now) {
			return new Acquired(new AcquireAnswer.Refused(document.toInfo(now)), false, false);
		}

	}

}
