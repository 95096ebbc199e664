package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Function;

import com.mongodb.MongoInterruptedException;
import com.mongodb.client.FindIterable;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord.Request;
import dev.dblock.mongodb.request.ServerClock.Reading;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.StoreTimeoutException;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

import static dev.dblock.mongodb.request.BsonParts.anyOf;
import static dev.dblock.mongodb.request.BsonParts.date;
import static dev.dblock.mongodb.request.BsonParts.doc;
import static dev.dblock.mongodb.request.BsonParts.number;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * Statements with classic update operators, for servers without pipeline updates.
 * Decisions that the pipeline dialect leaves to {@code $$NOW} are made here by the
 * earliest or the latest time that the server's clock can show, whichever keeps two
 * holders apart. If the document has changed between read and write, it is read again. If
 * the clocks of a virtual machine stood still while it was paused, both times are too
 * early. A take-over is then later than necessary; the end of a lease is checked after it
 * was written.
 */
final class ClassicStatements extends CommonStatements {

	private static final BsonDocument STAMPS = doc(LockDocument.ACQUIRED_AT, BsonBoolean.TRUE)
		.append(LockDocument.UPDATED_AT, BsonBoolean.TRUE);

	private static final BsonDocument UPDATED = doc(LockDocument.UPDATED_AT, BsonBoolean.TRUE);

	private static final BsonDocument FENCE_IS_RAISED = doc(LockDocument.FENCE_PENDING, BsonBoolean.FALSE);

	private static final BsonDocument RELEASED_AT = doc(LockDocument.RELEASED_AT, new BsonString(""));

	/** The longest pause while waiting for the server's clock, in milliseconds. */
	private static final long LONGEST_PAUSE = 10;

	private static final FindOneAndUpdateOptions TAKE = new FindOneAndUpdateOptions()
		.returnDocument(ReturnDocument.AFTER);

	private final LeaseTimes times;

	private final ServerClock clock;

	ClassicStatements(LeaseTimes times, ServerClock clock, ClaimStatements claims) {
		super(claims);
		this.times = times;
		this.clock = clock;
	}

	@Override
	@Nullable Acquired acquireFree(StoreRequest store, AcquireRequest request) {
		return null;
	}

	@Override
	FoundPermits find(StoreRequest store, LeaseKey key) {
		FoundPermits found = new FoundPermits(key);
		long now = this.clock.read(store).notBefore();
		for (BsonDocument document : store.collection().find(ids(key)).batchSize(key.permits() + 1)) {
			found.add(document, now);
		}
		return found;
	}

	@Override
	Acquired tryAcquire(StoreRequest store, AcquireRequest request) {
		String name = request.key().id();
		while (!store.isOver()) {
			BsonDocument stored = store.collection().find(doc(LockDocument.ID, text(name))).first();
			// Two steps, since some servers refuse an upsert whose filter contains more
			// than the _id.
			if (stored == null && !insert(store, name)) {
				continue;
			}
			LockDocument found = LockDocument.read(stored, name, store.collectionName()).orElse(null);
			Reading now = (found != null) ? this.clock.read(store) : this.clock.readAnew(store);
			if (found != null && found.isTakenAt(now.notBefore())) {
				return found.isHeldBy(request.key().holder()) ? granted(store, request, found)
						: refused(request, found, now.notBefore());
			}
			if (found != null && request.key().permits() == 0 && found.permits() > 1) {
				return refused(request, found, now.notBefore());
			}
			Request claim = request.claimRequest();
			ClaimStatements.Grant granting = (claim != null) ? this.claims.grant(claim, stored, found, now.notBefore())
					: null;
			if (granting != null && !granting.isGrantable()) {
				return refused(request, found, now.notBefore());
			}
			LockDocument grant = take(store, request, found, now, granting);
			LockDocument taken = lasting(store, grant, now);
			if (taken != null) {
				return granted(store, request, taken);
			}
			if (grant != null && claim != null) {
				// It has recorded the claim, which the caller has to know
				throw new StoreTimeoutException("The lock '" + name + "' was granted, but its lease ended before that"
						+ " could be confirmed, and another instance has taken it over. This machine was paused, or"
						+ " MongoDB is too slow. Try again");
			}
		}
		throw new StoreTimeoutException(
				"The lock '" + name + "' changed hands each time it was about to be acquired, and is not held. Try"
						+ " again; if many callers compete for it, let them wait for it");
	}

	// The first token of a new document is ahead of the server's clock. Once the clock
	// has passed it, it is less than the tokens of the document that comes after this
	// one.
	private Acquired granted(StoreRequest store, AcquireRequest request, LockDocument document) {
		if (document.isNew()) {
			awaitClock(store, document.name(), document.token() / LockDocument.TOKENS_PER_MILLI);
		}
		return granted(request, document, tokens(request, document.isNew()));
	}

	// Limits the wait for the tokens of a new document, regardless of the number
	// requested.
	private static int tokens(AcquireRequest request, boolean isNew) {
		return isNew ? Math.min(AcquireRequest.USUAL_TOKENS, request.tokens()) : request.tokens();
	}

	private void awaitClock(StoreRequest store, String name, long time) {
		long ahead = time - this.clock.read(store).notBefore();
		while (ahead > 0) {
			if (Thread.currentThread().isInterrupted()) {
				throw new MongoInterruptedException("Interrupted while waiting for the server's clock", null);
			}
			if (store.isOver()) {
				throw new StoreTimeoutException("The lock '" + name + "' was acquired, but the server's clock did not"
						+ " pass its token in time, so the lock is not granted. Try again; if this keeps happening,"
						+ " the clock of the server was set back, or the wait, the lease or dblock.mongodb.timeout is"
						+ " too short");
			}
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(ahead, LONGEST_PAUSE)));
			// Far ahead, the sample is more likely to be late than the clock.
			Reading now = (ahead > LONGEST_PAUSE) ? this.clock.readAnew(store) : this.clock.read(store);
			ahead = time - now.notBefore();
		}
	}

	private @Nullable LockDocument take(StoreRequest store, AcquireRequest request, @Nullable LockDocument found,
			Reading now, ClaimStatements.@Nullable Grant granting) {
		BsonDocument grant = grant(request, found, now);
		BsonDocument filter = asRead(request.key().id(), found);
		if (granting != null) {
			granting.addTo(grant);
			granting.addToFilter(filter);
		}
		return update(store, filter, grant);
	}

	private static @Nullable LockDocument update(StoreRequest store, BsonDocument filter, BsonDocument update) {
		BsonDocument updated = store.collection().findOneAndUpdate(filter, update, TAKE);
		return (updated != null) ? LockDocument.readIfOurs(updated).orElse(null) : null;
	}

	/**
	 * Prolong a grant until it lasts as long as it promises. If both local clocks stood
	 * still after the sample was taken, the end of the grant is too early by the same
	 * amount. The date that the server wrote with the grant can prove that it is not. If
	 * it does not, because the server was merely slow, another sample of its clock
	 * decides.
	 * @param taken the grant, as it was written
	 * @param now the reading by which it was dated
	 * @return the grant, or {@code null} if another instance has overtaken it in the
	 * meantime
	 */
	private @Nullable LockDocument lasting(StoreRequest store, @Nullable LockDocument taken, Reading now) {
		LockDocument grant = taken;
		Reading datedBy = now;
		while (grant != null && !isLasting(grant) && !this.clock.confirms(store, datedBy)) {
			checkTime(store);
			datedBy = this.clock.read(store);
			grant = update(store, asRead(grant.name(), grant), renewal(grant, datedBy, false));
		}
		return grant;
	}

	private boolean isLasting(LockDocument grant) {
		Long expiresAt = grant.expiresAt();
		Long writtenAt = grant.updatedAt();
		return expiresAt != null && writtenAt != null
				&& expiresAt >= writtenAt + this.times.untilFree(grant.leaseMillis());
	}

	/**
	 * Make a write that is dated by a sample, and repeat it until the server's clock
	 * confirms the sample. A repetition changes only a date that was too early.
	 */
	private <T> T dated(StoreRequest store, Function<Reading, T> write) {
		while (true) {
			Reading now = this.clock.read(store);
			T result = write.apply(now);
			if (this.clock.confirms(store, now)) {
				return result;
			}
			checkTime(store);
		}
	}

	private static void checkTime(StoreRequest store) {
		if (store.isOver()) {
			throw new StoreTimeoutException("The server's clock was later than expected after each write, so the"
					+ " lease may have ended. This machine was paused, or MongoDB is too slow. Try again");
		}
	}

	private BsonDocument grant(AcquireRequest request, @Nullable LockDocument found, Reading now) {
		long lease = LeaseTimes.millis(request.lease());
		long free = untilFree(lease, now);
		long lastToken = (found != null) ? found.token() : 0;
		// Without a known last token, the latest time is used: the tokens of an earlier
		// document may be from an instance with a more precise sample of the clock.
		long firstToken = (found != null) ? Math.max(lastToken + 1, now.notBefore() * LockDocument.TOKENS_PER_MILLI)
				: now.notAfter() * LockDocument.TOKENS_PER_MILLI;
		BsonDocument set = new BsonDocument(LockDocument.HOLDER, text(request.key().holder()))
			.append(LockDocument.ACQUIRER, text(request.acquirer()))
			.append(LockDocument.THREAD, text(request.thread()))
			.append(LockDocument.WHY, text(request.why()))
			.append(LockDocument.TOKEN, number(firstToken + tokens(request, found == null) - 1))
			.append(LockDocument.EXPIRES_AT, date(free))
			.append(LockDocument.LEASE_MILLIS, number(lease))
			.append(LockDocument.CLEAN_UP_AT, date(cleanUpAt(found,
					Math.max(free, lastToken / LockDocument.TOKENS_PER_MILLI) + LeaseTimes.keptFor(request.claim()))));
		if (request.askable()) {
			set.append(LockDocument.RUN_AGAIN, LockDocument.askable(text(request.key().holder())));
		}
		if (request.key().permits() > 0) {
			set.append(LockDocument.PERMITS, number(request.key().permits()))
				.append(LockDocument.PERMITS_BEFORE, number((found != null) ? found.permits() : 0));
		}
		if (found != null) {
			set.append(LockDocument.FENCE_PENDING,
					BsonBoolean.valueOf(found.holder() != null || found.isFencePending()));
		}
		return doc("$set", set).append("$unset", RELEASED_AT).append("$currentDate", STAMPS);
	}

	private long cleanUpAt(@Nullable LockDocument found, long unused) {
		long earliest = unused + this.times.retention();
		long latest = earliest + this.times.retentionSlack();
		long sensible = (found != null && found.hasClaims()) ? LeaseTimes.NEVER : latest;
		Long stored = (found != null) ? found.cleanUpAt() : null;
		return (stored != null && stored >= earliest && stored <= sensible) ? stored : latest;
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(StoreRequest store, Collection<LeaseKey> leases,
			boolean fenceIsRaised) {
		FoundLocks found = find(store, leases);
		long renewed = dated(store, (now) -> renew(store, leases, fenceIsRaised, found, now));
		return (renewed == leases.size()) ? Map.of() : find(store, leases).gone(leases, renewed);
	}

	private long renew(StoreRequest store, Collection<LeaseKey> leases, boolean fenceIsRaised, FoundLocks found,
			Reading now) {
		Map<BsonDocument, List<LeaseKey>> byChange = new LinkedHashMap<>();
		for (LeaseKey lease : leases) {
			LockDocument document = found.document(lease);
			if (document != null && document.isHeldBy(lease.holder())) {
				byChange.computeIfAbsent(renewal(document, now, fenceIsRaised), (change) -> new ArrayList<>())
					.add(lease);
			}
		}
		long renewed = 0;
		for (Map.Entry<BsonDocument, List<LeaseKey>> entry : byChange.entrySet()) {
			BsonDocument filter = notExpired(doc(LockDocument.ID, anyOf(entry.getValue(), LeaseKey::id))
				.append(LockDocument.HOLDER, anyOf(entry.getValue(), LeaseKey::holder)), now);
			renewed += store.collection().updateMany(filter, entry.getKey()).getMatchedCount();
		}
		return renewed;
	}

	private FoundLocks find(StoreRequest store, Collection<LeaseKey> leases) {
		// A full batch would require another, empty one.
		List<BsonDocument> stored = store.collection()
			.find(doc(LockDocument.ID, anyOf(leases, LeaseKey::id)))
			.batchSize(leases.size() + 1)
			.into(new ArrayList<>());
		long now = this.clock.read(store).notAfter();
		FoundLocks found = new FoundLocks();
		stored.forEach((document) -> found.add(document, now));
		return found;
	}

	@Override
	public boolean extend(StoreRequest store, LeaseKey lease, Duration atLeast) {
		return dated(store,
				(now) -> store.collection()
					.updateOne(notExpired(heldBy(lease), now), prolong(untilFree(LeaseTimes.millis(atLeast), now), 0))
					.getMatchedCount() > 0);
	}

	/**
	 * Change the end of a lease that no other request has changed since it was read, as
	 * {@link PipelineStatements} does, and repeat it until the server's clock confirms
	 * the sample by which the end is dated.
	 */
	@Override
	public boolean extendExactly(StoreRequest store, LeaseKey lease, Duration duration) {
		while (true) {
			BsonDocument held = heldBy(lease);
			BsonDocument found = store.collection().find(held).first();
			Reading now = this.clock.readAnew(store);
			LockDocument document = (found != null) ? LockDocument.readIfOurs(found).orElse(null) : null;
			if (document == null || !document.isTakenAt(now.notAfter())) {
				return false;
			}
			Long updatedAt = document.updatedAt();
			// Another request of the same millisecond would leave the same date
			if ((updatedAt == null || updatedAt < now.notBefore())
					&& setEnd(store, notExpired(held, now), updatedAt, untilFree(LeaseTimes.millis(duration), now))
					&& this.clock.confirms(store, now)) {
				return true;
			}
			checkExactChange(store, lease);
		}
	}

	private boolean setEnd(StoreRequest store, BsonDocument filter, @Nullable Long updatedAt, long free) {
		// The embedded server stores dates with fractions of a millisecond
		filter.append(LockDocument.UPDATED_AT,
				(updatedAt != null) ? doc("$gte", date(updatedAt)).append("$lt", date(updatedAt + 1)) : BsonNull.VALUE);
		BsonDocument update = doc("$set", doc(LockDocument.EXPIRES_AT, date(free)))
			.append("$max", doc(LockDocument.CLEAN_UP_AT, date(free + this.times.retention())))
			.append("$currentDate", UPDATED);
		return store.collection().updateOne(filter, update).getMatchedCount() > 0;
	}

	// Certainly not expired, since this compares with the latest time that the clock can
	// show.
	private static BsonDocument notExpired(BsonDocument filter, Reading now) {
		return filter.append(LockDocument.EXPIRES_AT, doc("$gt", date(now.notAfter())));
	}

	private BsonDocument renewal(LockDocument document, Reading now, boolean fenceIsRaised) {
		long free = untilFree(document.leaseMillis(), now);
		Long stored = document.cleanUpAt();
		boolean isLateEnough = stored != null && stored >= free + this.times.retention();
		BsonDocument update = prolong(free, isLateEnough ? 0 : this.times.retentionSlack());
		return fenceIsRaised ? update.append("$set", FENCE_IS_RAISED) : update;
	}

	// The tolerance compensates for a sample that is confirmed although it is wrong by as
	// much.
	private long untilFree(long promised, Reading now) {
		return now.notAfter() + ClockSample.TOLERANCE + this.times.untilFree(promised);
	}

	// Never shortens a lease, since requests may be applied in another order than they
	// were sent. With the slack, later renewals do not change the index.
	private BsonDocument prolong(long free, long slack) {
		return doc("$max", doc(LockDocument.EXPIRES_AT, (BsonValue) date(free)).append(LockDocument.CLEAN_UP_AT,
				date(free + this.times.retention() + slack)))
			.append("$currentDate", UPDATED);
	}

	@Override
	boolean releaseLater(StoreRequest store, LeaseKey lease, long minHoldMillis, FenceMark mark,
			Claim.@Nullable End end) {
		// A new sample cannot be too early, since the remaining hold was computed before
		// it.
		return releaseAt(store, lease, this.clock.readAnew(store).notAfter() + minHoldMillis, mark, end);
	}

	@Override
	long firstToken(StoreRequest store) {
		return this.clock.readAnew(store).notAfter() * LockDocument.TOKENS_PER_MILLI;
	}

	@Override
	FindIterable<BsonDocument> select(StoreRequest store, BsonDocument filter, Collection<Claim.Key> records) {
		return store.collection().find(filter);
	}

	@Override
	<T> Optional<T> readSelected(StoreRequest store, String name, @Nullable BsonDocument selected,
			BiFunction<LockDocument, Long, @Nullable T> reading) {
		return LockDocument.read(selected, name, store.collectionName())
			.map((lock) -> reading.apply(lock, this.clock.read(store).notBefore()));
	}

	@Override
	public LockPage findAll(StoreRequest store, ListRequest request) {
		BsonDocument filter = FoundLocks.from(request);
		if (!request.released()) {
			filter.putAll(stillTaken(store));
		}
		return new FoundLocks().page(request, store.collection().find(filter),
				(stored) -> this.clock.read(store).notBefore());
	}

	@Override
	BsonDocument stillTaken(StoreRequest store) {
		return doc(LockDocument.EXPIRES_AT, doc("$gt", date(this.clock.read(store).notBefore())));
	}

}
