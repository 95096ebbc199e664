package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.FindIterable;
import dev.dblock.LockInfo;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.Claimed;
import dev.dblock.mongodb.request.ClaimStatements.Reopening;
import dev.dblock.mongodb.request.LockDocument.RunAgain;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AskAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.Permits;
import dev.dblock.store.StoreTimeoutException;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static dev.dblock.mongodb.request.BsonParts.IS_ABSENT;
import static dev.dblock.mongodb.request.BsonParts.anyOf;
import static dev.dblock.mongodb.request.BsonParts.doc;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * What is the same in both dialects: the statements that need no arithmetic on the
 * server's clock, and the repair of records around an acquire. Apart from a pause, they
 * do not change {@code cleanUpAt}, so that a release changes no index.
 */
abstract class CommonStatements implements Statements {

	static final BsonDocument IS_LONG = doc("$type", new BsonString("long"));

	static final BsonDocument IS_DATE = doc("$type", new BsonString("date"));

	private static final BsonDocument RELEASED_NOW = doc(LockDocument.RELEASED_AT, BsonBoolean.TRUE);

	private static final String RUN_AGAIN_HOLDER = RunAgain.path(RunAgain.HOLDER);

	private static final String RUN_AGAIN_ASKED = RunAgain.path(RunAgain.ASKED);

	private static final String RUN_AGAIN_CLOSED = RunAgain.path(RunAgain.CLOSED);

	private static final BsonDocument HOLDER = doc(LockDocument.HOLDER, text(""));

	private static final BsonDocument HOLDER_AND_EXPIRY = HOLDER.clone().append(LockDocument.EXPIRES_AT, text(""));

	private static final BsonDocument FENCE_PENDING = doc(LockDocument.FENCE_PENDING, BsonBoolean.TRUE);

	private static final BsonDocument FREE = doc("$unset", HOLDER_AND_EXPIRY).append("$currentDate", RELEASED_NOW);

	private static final BsonDocument FREE_AND_FENCED = FREE.clone()
		.append("$set", doc(LockDocument.FENCE_PENDING, BsonBoolean.FALSE));

	private static final BsonDocument FORCE_NOW = FREE.clone().append("$set", FENCE_PENDING);

	private static final BsonDocument FORCE = doc("$unset", HOLDER).append("$currentDate", RELEASED_NOW)
		.append("$set", FENCE_PENDING);

	/** No document has a date before that. */
	private static final BsonDocument UNCHANGED = doc("$max", doc(LockDocument.ACQUIRED_AT, BsonParts.date(0)));

	/** The record cannot contain the field, or the document would be too large. */
	private static final Set<Integer> RECORD_REFUSED = Set.of(28, 10334, 17419);

	private static final Logger logger = LoggerFactory.getLogger(CommonStatements.class);

	final ClaimStatements claims;

	CommonStatements(ClaimStatements claims) {
		this.claims = claims;
	}

	/**
	 * Acquire a lock. A record that was changed manually makes the request for a claim
	 * fail, or is refused. It is examined only in that case, so that no other request has
	 * to check it.
	 */
	@Override
	public final Acquired acquire(StoreRequest store, AcquireRequest request) {
		ClaimRecord.Request claim = request.claimRequest();
		if (claim == null) {
			return (request.key().permit() == 0) ? acquireAny(store, request) : tryAcquire(store, request);
		}
		String name = request.key().name();
		Function<BsonDocument, @Nullable String> unusable = (stored) -> this.claims.unusable(claim.key(), stored);
		try {
			Acquired acquired = tryAcquire(store, request);
			if (!acquired.malformed() || !repairRecord(store, name, unusable)) {
				return acquired;
			}
		}
		catch (MongoCommandException | MongoWriteException ex) {
			if (!repairRecord(store, name, unusable)) {
				throw ex;
			}
		}
		return tryAcquire(store, request);
	}

	/**
	 * Acquire any permit of a lock. If the dialect cannot do that in one request, or none
	 * was free, all are read. One that appears free or is not stored yet is acquired by
	 * its id, unless another caller is faster. Each such loss is a grant to that caller,
	 * so after one for each permit, the lock is as good as held.
	 */
	private Acquired acquireAny(StoreRequest store, AcquireRequest request) {
		LeaseKey key = request.key();
		Acquired acquired = acquireFree(store, request);
		for (int losses = 0; acquired == null; losses++) {
			FoundPermits found = find(store, key);
			int permit = found.choose();
			if (permit == 0 || losses == key.permits()) {
				return new Acquired(new AcquireAnswer.Refused(found.states()), false, false, false);
			}
			Acquired one = tryAcquire(store, request.forPermit(permit));
			acquired = (one.answer() instanceof AcquireAnswer.Granted) ? one : null;
		}
		return acquired;
	}

	/**
	 * Acquire any permit that is stored and free, by one request.
	 * @return the grant; {@code null} if there is none, or the dialect has no such
	 * request
	 */
	abstract @Nullable Acquired acquireFree(StoreRequest store, AcquireRequest request);

	/**
	 * Read all permits of a lock.
	 */
	abstract FoundPermits find(StoreRequest store, LeaseKey key);

	/**
	 * Acquire a lock, or the permit with a known number. A run record is as grants and
	 * releases write it.
	 */
	abstract Acquired tryAcquire(StoreRequest store, AcquireRequest request);

	final Acquired granted(AcquireRequest request, LockDocument document, int tokens) {
		long last = document.token();
		ClaimRecord.Request claim = request.claimRequest();
		Claimed claimed = (claim != null) ? this.claims.claimed(claim, document) : null;
		LeaseKey key = request.key();
		int permit = (key.permit() != 0) ? key.permit() : Permits.numberOf(document.name(), key.name());
		return new Acquired(new AcquireAnswer.Granted(last - tokens + 1, last, document.acquiredAt(), false, claimed,
				permit, (key.permits() > 0) ? document.earlierPermits() : 0), document.isFencePending(), false, false);
	}

	/**
	 * Create a refusal.
	 * @param request the request
	 * @param document the document; {@code null} if a claim is refused and nothing is
	 * stored
	 * @param now milliseconds of the server's clock
	 */
	final Acquired refused(AcquireRequest request, @Nullable LockDocument document, long now) {
		LockInfo lock = (document != null) ? document.toInfo(now) : FoundPermits.unknown(request.key().name());
		ClaimRecord.Request claim = request.claimRequest();
		if (claim == null) {
			return new Acquired(new AcquireAnswer.Refused(lock), false, false, false);
		}
		ClaimStatements.Refusal refusal = this.claims.refusal(claim, document, now);
		return new Acquired(new AcquireAnswer.Refused(lock, refusal.verdict()), false, refusal.malformed(),
				refusal.grantable());
	}

	static BsonDocument heldBy(LeaseKey lease) {
		return ids(lease).append(LockDocument.HOLDER, text(lease.holder()));
	}

	static BsonDocument ids(LeaseKey lease) {
		return doc(LockDocument.ID, (lease.permit() != 0) ? text(lease.id()) : anyOf(lease.ids(), Function.identity()));
	}

	static void checkExactChange(StoreRequest store, LeaseKey lease) {
		if (store.isOver()) {
			throw new StoreTimeoutException("The lease of the lock '" + lease.id()
					+ "' was changed by another request each time it was about to be changed. Try again");
		}
	}

	@Override
	public final boolean release(StoreRequest store, LeaseKey lease, Duration minHoldLeft, FenceMark mark,
			Claim.@Nullable End end) {
		long minHoldMillis = LeaseTimes.millis(minHoldLeft);
		return (minHoldMillis == 0) ? release(store, lease, mark, end)
				: releaseLater(store, lease, minHoldMillis, mark, end);
	}

	/**
	 * Release the lock of a grant whose work never began, and open its claim to records
	 * with other ids. If a later claim was settled with another id since then, it has
	 * settled this one as well, which is recorded as lost. Such a release has no minimum
	 * hold.
	 * @return whether there was such a grant, and the lock is released
	 */
	private static boolean reopen(StoreRequest store, BsonDocument filter, BsonDocument update,
			ClaimStatements.End end) {
		Reopening reopening = end.reopening();
		if (reopening == null) {
			return false;
		}
		BsonDocument opened = recording(update, end).append("$rename",
				doc(reopening.before(), text(reopening.settled())));
		return updateUnrecorded(store, and(filter, reopening.open()), opened)
				|| updateUnrecorded(store, and(filter, reopening.overtaken()), recording(update, reopening.lost()));
	}

	private static BsonDocument and(BsonDocument filter, BsonDocument more) {
		BsonDocument both = filter.clone();
		both.putAll(more);
		return both;
	}

	/**
	 * Release a lock that remains unavailable for the rest of its minimum hold.
	 */
	abstract boolean releaseLater(StoreRequest store, LeaseKey lease, long minHoldMillis, FenceMark mark,
			Claim.@Nullable End end);

	private boolean release(StoreRequest store, LeaseKey lease, FenceMark mark, Claim.@Nullable End end) {
		BsonDocument free = switch (mark) {
			case KEEP -> FREE;
			case CLEAR -> FREE_AND_FENCED;
			case SET -> FORCE_NOW;
		};
		if (end == null) {
			return updateUnrecorded(store, heldBy(lease), free);
		}
		return releaseClaim(store, lease, free, end);
	}

	private boolean releaseClaim(StoreRequest store, LeaseKey lease, BsonDocument update, Claim.End how) {
		ClaimStatements.End end = this.claims.end(how);
		return releaseClaim(lease, end,
				(filter) -> reopen(store, filter, update, end)
						|| updateUnrecorded(store, filter, recording(update, end)),
				(filter) -> updateUnrecorded(store, filter, update));
	}

	/**
	 * Return the update of a release that also records how a grant ended.
	 */
	private static BsonDocument recording(BsonDocument update, ClaimStatements.End end) {
		BsonDocument set = update.containsKey("$set") ? update.getDocument("$set").clone() : new BsonDocument();
		end.texts().forEach((path, value) -> set.append(path, text(value)));
		BsonDocument recording = update.clone();
		recording.put("$set", set);
		recording.put("$currentDate", RELEASED_NOW.clone().append(end.endedAt(), BsonBoolean.TRUE));
		return recording;
	}

	/**
	 * Release the lock of a claim. If its record was changed manually since the grant,
	 * the lock is released without recording the end. A grant that was delayed until
	 * after the first update is left alone, since the next release of it records its end.
	 * @param lease the lease
	 * @param end how the grant ended
	 * @param recording the update that records the end
	 * @param unrecorded the update that does not
	 * @return whether the acquisition was the holder
	 */
	static boolean releaseClaim(LeaseKey lease, ClaimStatements.End end, Predicate<BsonDocument> recording,
			Predicate<BsonDocument> unrecorded) {
		try {
			// Without this condition, the update could create a record without a planned
			// time
			if (recording.test(heldBy(lease).append(end.holder(), text(lease.holder())))) {
				return true;
			}
		}
		catch (MongoWriteException ex) {
			if (!RECORD_REFUSED.contains(ex.getCode())) {
				throw ex;
			}
			logger.debug("The run record of the job '{}' does not accept its end", end.id(), ex);
			return unrecorded.test(heldBy(lease));
		}
		return unrecorded.test(heldBy(lease).append(end.holder(), doc("$ne", text(lease.holder()))));
	}

	/**
	 * Release the lock, but keep it unavailable until a given time.
	 * @param store the store
	 * @param lease the lease
	 * @param until milliseconds of the server's clock
	 * @param mark the fence mark for the next holder
	 * @param end how the grant ended; {@code null} for a plain lock
	 * @return whether the acquisition was the holder
	 */
	final boolean releaseAt(StoreRequest store, LeaseKey lease, long until, FenceMark mark, Claim.@Nullable End end) {
		BsonDocument keep = marked(doc(LockDocument.EXPIRES_AT, BsonParts.date(until)), mark);
		BsonDocument update = doc("$unset", HOLDER).append("$currentDate", RELEASED_NOW).append("$set", keep);
		return (end != null) ? releaseClaim(store, lease, update, end) : updateUnrecorded(store, heldBy(lease), update);
	}

	/**
	 * Record a request for the holder that was read. Only a lease that has not ended by
	 * the server's clock counts, since its holder may have crashed.
	 */
	@Override
	public final AskAnswer ask(StoreRequest store, String name, String id) {
		BsonDocument stored = store.collection().find(doc(LockDocument.ID, text(name))).first();
		LockDocument found = LockDocument.read(stored, name, store.collectionName()).orElse(null);
		String holder = (found != null) ? found.holder() : null;
		if (found == null || holder == null) {
			return AskAnswer.NO_HOLDER;
		}
		if (!found.isAskable()) {
			return find(store, name).filter((lock) -> lock.held() && holder.equals(lock.holder())).isPresent()
					? AskAnswer.NOT_ASKABLE : AskAnswer.NO_HOLDER;
		}
		BsonDocument filter = askable(new LeaseKey(name, holder)).append(RUN_AGAIN_CLOSED, IS_ABSENT);
		filter.putAll(stillTaken(store));
		return update(store, filter, doc("$set", doc(RUN_AGAIN_ASKED, text(id)))) ? AskAnswer.ASKED
				: AskAnswer.NO_HOLDER;
	}

	/**
	 * Close the requests only if the last one is the one that the holder has seen.
	 */
	@Override
	public final Optional<String> closeRequests(StoreRequest store, LeaseKey lease, @Nullable String seen) {
		BsonDocument filter = askable(lease).append(RUN_AGAIN_ASKED, (seen != null) ? text(seen) : IS_ABSENT);
		if (update(store, filter, doc("$set", doc(RUN_AGAIN_CLOSED, BsonBoolean.TRUE)))) {
			return Optional.empty();
		}
		BsonDocument stored = store.collection().find(askable(lease)).first();
		return (stored != null) ? LockDocument.readIfOurs(stored).map(LockDocument::asked) : Optional.empty();
	}

	private static BsonDocument askable(LeaseKey lease) {
		return heldBy(lease).append(RUN_AGAIN_HOLDER, text(lease.holder()));
	}

	@Override
	public final Optional<LockInfo> find(StoreRequest store, String name) {
		return find(store, name, List.of(), LockDocument::toInfo);
	}

	@Override
	public final Optional<ClaimRecord.Status> findRecord(StoreRequest store, String name, Claim.Key key) {
		return find(store, name, List.of(key), (lock, now) -> this.claims.status(key, lock, now));
	}

	private <T> Optional<T> find(StoreRequest store, String name, List<Claim.Key> records,
			BiFunction<LockDocument, Long, @Nullable T> reading) {
		BsonDocument found = select(store, doc(LockDocument.ID, text(name)), records).first();
		return readSelected(store, name, found, reading);
	}

	@Override
	public final Map<String, ClaimRecord.Status> findRecords(StoreRequest store, Map<String, Claim.Key> keys) {
		BsonDocument filter = doc(LockDocument.ID, anyOf(keys.keySet(), (name) -> name));
		// A full batch would require another, empty one
		List<BsonDocument> selected = select(store, filter, keys.values()).batchSize(keys.size() + 1)
			.into(new ArrayList<>());
		Map<String, ClaimRecord.Status> found = new HashMap<>();
		for (BsonDocument stored : selected) {
			String name = stored.getString(LockDocument.ID).getValue();
			Claim.Key key = keys.get(name);
			// A collation can select a name in another spelling
			if (key != null) {
				readSelected(store, name, stored, (lock, now) -> this.claims.status(key, lock, now))
					.ifPresent((status) -> found.put(name, status));
			}
		}
		return found;
	}

	/**
	 * Select documents, with the fields of locks and of some records.
	 */
	abstract FindIterable<BsonDocument> select(StoreRequest store, BsonDocument filter, Collection<Claim.Key> records);

	/**
	 * Read a document that was selected.
	 * @return what was read; empty if there is no document, or an id alone
	 * @throws dev.dblock.ForeignDocumentException if the document is not ours
	 */
	abstract <T> Optional<T> readSelected(StoreRequest store, String name, @Nullable BsonDocument selected,
			BiFunction<LockDocument, Long, @Nullable T> reading);

	/**
	 * Read a record, and confirm it by a write that changes nothing: a majority has what
	 * the write has found.
	 */
	@Override
	public final Optional<ClaimRecord.Status> findLastingRecord(StoreRequest store, String name, Claim.Key key) {
		while (true) {
			RecordRead found = this
				.<RecordRead>find(store, name, List.of(key),
						(lock, now) -> new RecordRead(this.claims.asRead(key, lock),
								this.claims.status(key, lock, now)))
				.orElse(null);
			if (found == null || update(store, found.filter().append(LockDocument.ID, text(name)), UNCHANGED)) {
				return Optional.ofNullable(found).map(RecordRead::status);
			}
			if (store.isOver()) {
				throw new StoreTimeoutException("The record of the job changed each time it was read");
			}
		}
	}

	/**
	 * Record that a claim has expired. A grant or a release since the record was read
	 * changes it, and then it is read again. A request whose answer was lost can be
	 * repeated. If the lock was never acquired, its document is created.
	 */
	@Override
	public final Optional<ClaimRecord.Status> expire(StoreRequest store, String name, ClaimRecord.Request request) {
		// Only determines when unused documents are removed, so the local clock is
		// sufficient
		BsonDocument kept = doc(LockDocument.CLEAN_UP_AT,
				BsonParts.date(System.currentTimeMillis() + LeaseTimes.keptFor(request.claim())));
		while (true) {
			ExpiryRead found = this
				.<ExpiryRead>find(store, name, List.of(request.key()),
						(lock, now) -> new ExpiryRead(expiry(request, lock, now)))
				.orElse(null);
			if (found == null) {
				boolean unused = complete(store, name, new BsonDocument(), new BsonDocument(), kept);
			}
			else if (found.expiry() == null) {
				return Optional.empty();
			}
			else if (record(store, found.expiry(), kept)) {
				return findRecord(store, name, request.key());
			}
			if (store.isOver()) {
				throw new StoreTimeoutException(
						"The planned time could not be recorded as missed in time. It is tried again");
			}
		}
	}

	private static boolean record(StoreRequest store, ClaimStatements.Expiry expiry, BsonDocument kept) {
		BsonDocument change = doc("$max", kept);
		// What was read can still be rolled back, so also what an earlier request has
		// recorded is confirmed by a write
		if (!expiry.fields().isEmpty()) {
			change.append("$set", expiry.fields());
		}
		return update(store, expiry.filter(), change);
	}

	/**
	 * Decide whether a claim has expired. The run before it, whose lease has ended, must
	 * not be renewed meanwhile, by a request that took long.
	 */
	private ClaimStatements.@Nullable Expiry expiry(ClaimRecord.Request request, LockDocument lock, long now) {
		ClaimStatements.Expiry expiry = this.claims.expiry(request, lock, now);
		if (expiry != null) {
			expiry.filter().putAll(asRead(lock.name(), lock));
		}
		return expiry;
	}

	/**
	 * Pause claims. If the lock was never acquired, its document is created.
	 */
	@Override
	public final void pause(StoreRequest store, String name, Claim.Key key, String by) {
		ClaimStatements.Fields fields = this.claims.fields(key);
		BsonDocument kept = doc(LockDocument.CLEAN_UP_AT, BsonParts.date(LeaseTimes.NEVER));
		BsonDocument pausedBy = doc(fields.pausedBy(), text(by));
		BsonDocument at = doc(fields.pausedAt(), BsonBoolean.TRUE).append(fields.pausedFrom(), BsonBoolean.TRUE);
		BsonDocument pause = doc("$set", pausedBy).append("$currentDate", at).append("$max", kept);
		while (!update(store, lock(name), pause)) {
			if (complete(store, name, pausedBy, at, kept)) {
				return;
			}
			if (store.isOver()) {
				throw new StoreTimeoutException(
						"The job of the lock '" + name + "' could not be paused in time. Try again");
			}
		}
	}

	/**
	 * Complete the document of a lock that was never acquired, since one with an id and a
	 * record alone would not be one of ours. If there is none, one with an id is created,
	 * and the next call completes it.
	 * @return whether this call has completed it
	 */
	private boolean complete(StoreRequest store, String name, BsonDocument fields, BsonDocument dates,
			BsonDocument kept) {
		BsonDocument found = store.collection().find(doc(LockDocument.ID, text(name))).first();
		if (found == null) {
			insert(store, name);
			return false;
		}
		if (LockDocument.read(found, name, store.collectionName()).isPresent()) {
			return false;
		}
		BsonDocument set = fields.clone()
			.append(LockDocument.TOKEN, BsonParts.number(firstToken(store)))
			.append(LockDocument.LEASE_MILLIS, BsonParts.number(0));
		BsonDocument stamps = dates.clone()
			.append(LockDocument.ACQUIRED_AT, BsonBoolean.TRUE)
			.append(LockDocument.UPDATED_AT, BsonBoolean.TRUE)
			.append(LockDocument.RELEASED_AT, BsonBoolean.TRUE);
		return update(store, doc(LockDocument.ID, text(name)).append(LockDocument.TOKEN, IS_ABSENT),
				doc("$set", set).append("$currentDate", stamps).append("$max", kept));
	}

	/**
	 * Return the token of a document that was created without a grant.
	 */
	abstract long firstToken(StoreRequest store);

	@Override
	public final boolean resume(StoreRequest store, String name, Claim.Key key) {
		ClaimStatements.Fields fields = this.claims.fields(key);
		boolean resumed = update(store, lock(name).append(fields.paused(), doc("$exists", BsonBoolean.TRUE)),
				doc("$unset", doc(fields.paused(), text(""))).append("$currentDate",
						doc(fields.resumedAt(), BsonBoolean.TRUE)));
		if (resumed) {
			allowCleanUp(store, name);
		}
		return resumed || refuseForeign(store, name);
	}

	/**
	 * Let the document be removed again one day, unless other claims are still paused.
	 */
	private void allowCleanUp(StoreRequest store, String name) {
		BsonDocument found = store.collection().find(lock(name)).first();
		BsonDocument unpaused = lock(name).append(LockDocument.CLEAN_UP_AT, BsonParts.date(LeaseTimes.NEVER));
		if (found != null) {
			unpaused.putAll(this.claims.unpaused(found));
		}
		// Only determines when unused documents are removed, so the local clock is
		// sufficient
		update(store, unpaused, doc("$set",
				doc(LockDocument.CLEAN_UP_AT, BsonParts.date(System.currentTimeMillis() + LeaseTimes.CLAIM_KEPT))));
	}

	// An operator that sees that there was nothing to release or to resume must not
	// mistake
	// a foreign document for a free lock
	private boolean refuseForeign(StoreRequest store, String name) {
		find(store, name);
		return false;
	}

	/**
	 * Remove the parts of a run record that no grant can use because they were changed
	 * manually.
	 * @return whether there were such parts
	 */
	static boolean repairRecord(StoreRequest store, String name, Function<BsonDocument, @Nullable String> unusable) {
		for (boolean repaired = false;; repaired = true) {
			BsonDocument stored = store.collection().find(doc(LockDocument.ID, text(name))).first();
			String path = (stored != null && LockDocument.readIfOurs(stored).isPresent()) ? unusable.apply(stored)
					: null;
			if (stored == null || path == null) {
				return repaired;
			}
			// A run that was granted in the meantime has another token
			BsonDocument asRead = doc(LockDocument.ID, text(name)).append(LockDocument.TOKEN,
					stored.get(LockDocument.TOKEN));
			if (update(store, asRead, doc("$unset", doc(path, text(""))))) {
				logger.warn("The field '{}' of the document of the lock '{}' (collection '{}') was changed by hand or"
						+ " is too large. It is removed so that the job can run. If it was the last run, its"
						+ " planned time may run once more", path, name, store.collectionName());
			}
		}
	}

	/**
	 * Create a document that contains only its id.
	 * @return whether there was none
	 */
	static boolean insert(StoreRequest store, String name) {
		try {
			store.collection().insertOne(doc(LockDocument.ID, text(name)));
			return true;
		}
		catch (MongoWriteException ex) {
			// A unique index on another field would refuse each further attempt too
			if (ex.getError().getCategory() != ErrorCategory.DUPLICATE_KEY
					|| FailureTranslation.uniqueIndex(ex) != null) {
				throw ex;
			}
			return false;
		}
	}

	/**
	 * Add the fence mark of a release.
	 * @param fields the other fields that are set
	 * @param mark the mark
	 * @return the fields
	 */
	static BsonDocument marked(BsonDocument fields, FenceMark mark) {
		return (mark == FenceMark.KEEP) ? fields
				: fields.append(LockDocument.FENCE_PENDING, BsonBoolean.valueOf(mark == FenceMark.SET));
	}

	@Override
	public final boolean forceRelease(StoreRequest store, String name) {
		return forceRelease(store, name, FORCE) || refuseForeign(store, name);
	}

	/**
	 * Remove the holder. The same update records the end of the holder's claim, if there
	 * is one, and compares the holder with the one that was read.
	 */
	private boolean forceRelease(StoreRequest store, String name, BsonDocument force) {
		while (true) {
			BsonDocument stored = store.collection().find(doc(LockDocument.ID, text(name))).first();
			String holder = (stored != null) ? LockDocument.readIfOurs(stored).map(LockDocument::holder).orElse(null)
					: null;
			if (stored == null || holder == null) {
				return false;
			}
			BsonDocument filter = lock(name).append(LockDocument.HOLDER, text(holder));
			BsonDocument update = force;
			ClaimStatements.End end = this.claims.forced(stored, holder);
			if (end != null) {
				filter.append(end.holder(), text(holder));
				update = recording(force, end);
			}
			if (update(store, filter, update)) {
				return true;
			}
			if (store.isOver()) {
				throw new StoreTimeoutException(
						"The lock '" + name + "' changed hands during each attempt to release it by force. Try again");
			}
		}
	}

	/**
	 * Remove the holder and free the lock, or end the minimum hold.
	 */
	@Override
	public final boolean forceReleaseNow(StoreRequest store, String name) {
		if (forceRelease(store, name, FORCE_NOW)) {
			return true;
		}
		BsonDocument inMinimumHold = lock(name).append(LockDocument.HOLDER, IS_ABSENT);
		inMinimumHold.putAll(stillTaken(store));
		return update(store, inMinimumHold, FREE) || refuseForeign(store, name);
	}

	/**
	 * Return the condition on {@code expiresAt} for a minimum hold that is not over.
	 */
	abstract BsonDocument stillTaken(StoreRequest store);

	/**
	 * Return a filter for a document that has not changed hands, nor was renewed, since
	 * it was read.
	 * @param found the document; {@code null} if there was none of ours
	 */
	static BsonDocument asRead(String name, @Nullable LockDocument found) {
		BsonDocument filter = doc(LockDocument.ID, text(name));
		String holder = (found != null) ? found.holder() : null;
		Long expiresAt = (found != null) ? found.expiresAt() : null;
		filter.append(LockDocument.HOLDER, (holder != null) ? text(holder) : IS_ABSENT);
		filter.append(LockDocument.TOKEN, (found != null) ? BsonParts.number(found.token()) : IS_ABSENT);
		filter.append(LockDocument.EXPIRES_AT, (expiresAt != null) ? BsonParts.date(expiresAt) : IS_ABSENT);
		filter.append(LockDocument.LEASE_MILLIS, (found != null) ? IS_LONG : IS_ABSENT);
		filter.append(LockDocument.ACQUIRED_AT, (found != null) ? IS_DATE : IS_ABSENT);
		return filter;
	}

	private static BsonDocument lock(String name) {
		return doc(LockDocument.ID, text(name)).append(LockDocument.TOKEN, IS_LONG)
			.append(LockDocument.LEASE_MILLIS, IS_LONG)
			.append(LockDocument.ACQUIRED_AT, IS_DATE);
	}

	/**
	 * Update a document without a record of the write on the servers. The engine repeats
	 * the request itself if necessary. The driver does not retry an updateMany, even for
	 * a single document, so the servers need not record its result, which would be an
	 * additional write on each of them.
	 */
	private static boolean updateUnrecorded(StoreRequest store, BsonDocument filter, BsonDocument update) {
		return store.collection().updateMany(filter, update).getMatchedCount() > 0;
	}

	/**
	 * Update by a pipeline without a record of the write on the servers.
	 * @param store the store
	 * @param filter a filter by id
	 * @param update the pipeline
	 * @return whether a document matched
	 */
	static boolean updateUnrecorded(StoreRequest store, BsonDocument filter, List<BsonDocument> update) {
		return store.collection().updateMany(filter, update).getMatchedCount() > 0;
	}

	private static boolean update(StoreRequest store, BsonDocument filter, BsonDocument update) {
		return store.collection().updateOne(filter, update).getMatchedCount() > 0;
	}

	/**
	 * A record as it was read.
	 *
	 * @param filter selects it unless it has changed
	 */
	private record RecordRead(BsonDocument filter, ClaimRecord.Status status) {
	}

	/**
	 * Whether a claim has expired by a record as it was read.
	 */
	private record ExpiryRead(ClaimStatements.@Nullable Expiry expiry) {
	}

}
