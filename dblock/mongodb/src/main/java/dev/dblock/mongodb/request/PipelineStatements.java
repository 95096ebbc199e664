package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;

import com.mongodb.MongoException;
import com.mongodb.MongoServerException;
import com.mongodb.client.FindIterable;
import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord.Request;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository.FenceMark;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.InvalidDataAccessResourceUsageException;

import static dev.dblock.mongodb.request.BsonParts.IS_ABSENT;
import static dev.dblock.mongodb.request.BsonParts.anyOf;
import static dev.dblock.mongodb.request.BsonParts.date;
import static dev.dblock.mongodb.request.BsonParts.doc;
import static dev.dblock.mongodb.request.BsonParts.encoded;
import static dev.dblock.mongodb.request.BsonParts.literal;
import static dev.dblock.mongodb.request.BsonParts.literals;
import static dev.dblock.mongodb.request.BsonParts.number;
import static dev.dblock.mongodb.request.BsonParts.ref;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * Updates with an aggregation pipeline. {@code $$NOW} is read and compared on the server.
 */
final class PipelineStatements extends CommonStatements {

	private static final Logger logger = LoggerFactory.getLogger(PipelineStatements.class);

	private static final int DUPLICATE_KEY = 11000;

	private static final int VALIDATOR = 121;

	private static final String NOW_FIELD = "now";

	private static final String NOTHING_FIELD = "nothing";

	private static final BsonString NOW = ref("$$NOW");

	private static final BsonString EXPIRES_AT = ref("$expiresAt");

	private static final BsonString TOKEN = ref("$token");

	private static final BsonString CLEAN_UP_AT = ref("$cleanUpAt");

	private static final BsonString PERMITS = ref("$permits");

	private static final BsonDocument NOTHING_THERE = doc("$eq", ref("$$ROOT"), doc(LockDocument.ID, ref("$_id")));

	/** A missing value sorts before every date. */
	private static final BsonDocument OURS_AND_FREE = doc("$and", doc("$lte", EXPIRES_AT, NOW),
			doc("$eq", new BsonArray(List.of(type(TOKEN), type(ref("$leaseMillis")), type(ref("$acquiredAt")))),
					literals("long", "long", "date")),
			doc("$lte", TOKEN, number(LockDocument.LARGEST_TOKEN)),
			doc("$in", type(EXPIRES_AT), literals("date", "missing")),
			doc("$in", type(ref("$holder")), literals("string", "missing")));

	// Ordered by frequency, since comparing the whole document is most expensive for the
	// server.
	private static final BsonDocument FREE_PERMIT = encoded(doc("$or", OURS_AND_FREE, NOTHING_THERE));

	/** A missing number sorts before every other. */
	private static final BsonDocument HAS_ONE_HOLDER = doc("$lte", PERMITS, number(1));

	private static final BsonDocument STORED_PERMITS = encoded(doc("$max", PERMITS, number(0)));

	private static final BsonDocument FREE = encoded(
			doc("$or", doc("$and", OURS_AND_FREE, HAS_ONE_HOLDER), NOTHING_THERE));

	private static final BsonDocument FIRST_TOKEN_OF_NOW = encoded(
			doc("$multiply", doc("$toLong", NOW), number(LockDocument.TOKENS_PER_MILLI)));

	private static final BsonDocument DATE_OF_TOKEN = encoded(
			doc("$toDate", doc("$divide", TOKEN, number(LockDocument.TOKENS_PER_MILLI))));

	private static final BsonDocument FENCE_IS_PENDING = encoded(doc("$eq", ref("$fencePending"), BsonBoolean.TRUE));

	/**
	 * A lock of ours that was released, and whose last token is older than now. Its next
	 * token and its fence need no decision.
	 */
	private static final BsonDocument RELEASED = encoded(
			doc("$and", doc("$lte", EXPIRES_AT, NOW), doc("$in", type(EXPIRES_AT), literals("date", "missing")),
					doc("$eq",
							new BsonArray(List.of(type(TOKEN), type(ref("$leaseMillis")), type(ref("$acquiredAt")),
									type(ref("$holder")))),
							literals("long", "long", "date", "missing")),
					doc("$lt", TOKEN, FIRST_TOKEN_OF_NOW), HAS_ONE_HOLDER));

	/**
	 * Absent in a new document, so that a grant can detect that it has created it. Only
	 * for a free lock, whose token and holder are missing or of their types.
	 */
	private static final BsonDocument NEXT_FENCE_PENDING = encoded(doc("$cond", doc("$lte", TOKEN, BsonNull.VALUE),
			ref("$$REMOVE"), doc("$or", doc("$gt", ref("$holder"), BsonNull.VALUE), FENCE_IS_PENDING)));

	private static final BsonDocument FENCE_IS_RAISED = doc("$set",
			doc(LockDocument.FENCE_PENDING, doc("$cond", FENCE_IS_PENDING, BsonBoolean.FALSE, ref("$fencePending"))));

	private static final BsonDocument NOT_EXPIRED = doc("$expr", doc("$gt", EXPIRES_AT, NOW));

	private static final BsonDocument PROJECTION = projection();

	private static final BsonDocument ENCODED_PROJECTION = encoded(PROJECTION);

	private static final BsonDocument MAJORITY = doc("w", text("majority"));

	/** The id is no text, so that it cannot be the name of a lock. */
	private static final BsonDocument DIALECT_CHECK = doc(LockDocument.ID, doc("dblock", text("dialect check")));

	private static final BsonDocument ONLY_ID = doc("$replaceWith", doc(LockDocument.ID, ref("$_id")));

	/** Lets the TTL index remove the document at once. */
	private static final BsonDocument REMOVABLE = doc("$set", doc(LockDocument.CLEAN_UP_AT, NOW));

	private static final BsonString REHEARSED_HOLDER = text("dialect check");

	private static final String REHEARSED_NAME = "check";

	/** A text with a dollar sign is sent as a literal. */
	private static final String LITERAL = "$check";

	/**
	 * What releases, pauses and fences send besides; the date does not change the stored
	 * one.
	 */
	private static final BsonDocument REHEARSED_UPDATE = doc("$unset", doc(LockDocument.HOLDER, text("")))
		.append("$set", doc(LockDocument.FENCE_PENDING, BsonBoolean.FALSE))
		.append("$currentDate", doc(LockDocument.RELEASED_AT, BsonBoolean.TRUE))
		.append("$max", doc(LockDocument.CLEAN_UP_AT, BsonParts.date(0)))
		.append("$inc", doc("writes", number(1)))
		.append("$rename", doc(LockDocument.WHY, text("renamed")));

	private final LeaseTimes times;

	private final BsonDocument cleanUpOfLock;

	private final BsonDocument cleanUpOfClaim;

	private final List<BsonDocument> renewal;

	private final List<BsonDocument> fencedRenewal;

	PipelineStatements(LeaseTimes times, ClaimStatements claims) {
		super(claims);
		this.times = times;
		this.cleanUpOfLock = encoded(storedOrLatest(times, false));
		this.cleanUpOfClaim = encoded(storedOrLatest(times, true));
		BsonString lease = ref("$leaseMillis");
		this.renewal = List.of(atLeast(doc("$add", NOW, lease, number(times.clockAllowance()),
				doc("$ceil", doc("$divide", lease, number(LeaseTimes.DRIFT))))));
		this.fencedRenewal = List.of(this.renewal.get(0), FENCE_IS_RAISED);
	}

	/**
	 * Let the server evaluate each operator of these statements on a document that
	 * exists, since some servers look at an operator only then: a lock and three runs of
	 * a job are granted, renewed and released. The document has an id that no lock can
	 * have, the same for all instances, so that one that could not be removed is
	 * overwritten by the next check. Each request also works if another instance removes
	 * the document. Without the privilege to remove it, that is left to the TTL index.
	 * @param store the store
	 * @return whether the server evaluates the pipelines as MongoDB does
	 * @throws MongoException if the server reports an error
	 * @throws InvalidDataAccessResourceUsageException if it evaluates pipelines, but not
	 * the updates that both dialects need
	 */
	boolean areUnderstood(StoreRequest store) {
		ClaimStatements.@Nullable Rehearsal rehearsal = this.claims.rehearsal(REHEARSED_NAME, LITERAL);
		BsonDocument projection = PROJECTION.clone().append(NOTHING_FIELD, NOTHING_THERE);
		BsonDocument filter = DIALECT_CHECK.clone();
		if (rehearsal != null) {
			ClaimStatements.Fields fields = this.claims.fields(rehearsal.first().key(REHEARSED_NAME));
			projection.append(fields.last(), new BsonInt32(1));
			filter.append(fields.paused(), IS_ABSENT);
		}
		try {
			// In two requests, since the first shows more servers by an error of its own
			if (!isEvaluated(take(store, DIALECT_CHECK, rehearsalOfLock(), projection)) || rehearsal != null
					&& !isEvaluated(take(store, DIALECT_CHECK, rehearsalOfClaim(rehearsal), projection))) {
				return false;
			}
			List<BsonDocument> renewal = new ArrayList<>(this.fencedRenewal);
			renewal.add(REMOVABLE);
			updateUnrecorded(store, renewable(DIALECT_CHECK.clone()), renewal);
			requireUpdated(take(store, filter, REHEARSED_UPDATE, projection));
			return true;
		}
		catch (BsonInvalidOperationException ex) {
			logger.debug("The answer is not one of MongoDB", ex);
			return false;
		}
		catch (MongoServerException ex) {
			// Reported by MongoDB for the result, so that the statements were evaluated.
			// The first lock shows the cause
			if (ex.getCode() == VALIDATOR || ex.getCode() == DUPLICATE_KEY) {
				return true;
			}
			throw ex;
		}
		finally {
			removeCheck(store);
		}
	}

	static void requireUpdated(BsonDocument answer) {
		if (answer.containsKey(LockDocument.HOLDER) || !answer.isDateTime(LockDocument.RELEASED_AT)
				|| answer.containsKey(LockDocument.WHY)
				|| !BsonBoolean.FALSE.equals(answer.get(LockDocument.FENCE_PENDING))) {
			throw new InvalidDataAccessResourceUsageException(
					"The server does not update documents as MongoDB does, so that no lock could be released: after "
							+ REHEARSED_UPDATE + " it returned " + answer + ". Keep the locks in MongoDB");
		}
	}

	private static void removeCheck(StoreRequest store) {
		try {
			store.collection().deleteOne(DIALECT_CHECK);
		}
		catch (MongoException ex) {
			logger.debug("The document of the dialect check remains until the TTL index removes it", ex);
		}
	}

	private static boolean isEvaluated(BsonDocument answer) {
		return REHEARSED_HOLDER.equals(answer.get(LockDocument.HOLDER)) && answer.isInt64(LockDocument.TOKEN)
				&& answer.isDateTime(NOW_FIELD) && BsonBoolean.FALSE.equals(answer.get(NOTHING_FIELD));
	}

	private List<BsonDocument> rehearsalOfLock() {
		AcquireRequest lock = rehearsed(null);
		List<BsonDocument> stages = new ArrayList<>();
		stages.add(ONLY_ID);
		stages.add(grant(replacement(lock)));
		stages.addAll(this.fencedRenewal);
		stages.add(doc("$set", released(0, FenceMark.KEEP)));
		stages.add(grant(replacement(lock)));
		stages.add(REMOVABLE);
		return stages;
	}

	private List<BsonDocument> rehearsalOfClaim(ClaimStatements.Rehearsal rehearsal) {
		AcquireRequest first = rehearsed(rehearsal.first());
		AcquireRequest usual = rehearsed(rehearsal.usual());
		AcquireRequest other = rehearsed(rehearsal.other());
		BsonDocument released = doc("$set", ended(released(0, FenceMark.SET), this.claims.end(rehearsal.end())));
		List<BsonDocument> stages = new ArrayList<>();
		stages.add(ONLY_ID);
		stages.add(grant(replacement(first)));
		stages.add(released);
		// The usual claim is granted later
		stages.add(doc("$set", doc(LockDocument.TOKEN, number(0))));
		stages.add(grant(Objects.requireNonNull(usualReplacement(usual))));
		stages.add(released);
		// Refused, since this firing was run
		stages.add(grant(replacement(usual)));
		stages.add(grant(replacement(other)));
		stages.add(REMOVABLE);
		return stages;
	}

	private static AcquireRequest rehearsed(@Nullable Claim claim) {
		AcquireRequest request = new AcquireRequest(new LeaseKey(REHEARSED_NAME, REHEARSED_HOLDER.getValue()),
				Duration.ofSeconds(1), LITERAL, LITERAL, LITERAL, Duration.ZERO);
		return (claim != null) ? request.withClaim(claim) : request;
	}

	@Override
	Acquired tryAcquire(StoreRequest store, AcquireRequest request) {
		Request claim = request.claimRequest();
		if (claim == null) {
			return acquire(store, request, replacement(request), ENCODED_PROJECTION);
		}
		BsonDocument projection = PROJECTION.clone();
		ClaimStatements.Expressions expressions = this.claims.expressions(claim);
		expressions.addTo(projection);
		BsonDocument usual = usualReplacement(request);
		if (usual != null) {
			BsonValue answer = findAndModify(store, withId(request), new BsonArray(List.of(grant(usual))), projection,
					false);
			Acquired acquired = answer.isDocument() ? answered(store, request, answer.asDocument()) : null;
			if (acquired != null && (!acquired.grantable() || acquired.malformed())) {
				return acquired;
			}
		}
		expressions.addEarlierGrant(projection);
		return acquire(store, request, replacement(request), projection);
	}

	@Override
	@Nullable Acquired acquireFree(StoreRequest store, AcquireRequest request) {
		BsonValue answer = findAndModify(store, ids(request.key()).append("$expr", FREE_PERMIT),
				new BsonArray(List.of(grant(replacement(request)))), ENCODED_PROJECTION, false);
		return answer.isDocument() ? answered(store, request, answer.asDocument()) : null;
	}

	@Override
	FoundPermits find(StoreRequest store, LeaseKey key) {
		FoundPermits found = new FoundPermits(key);
		for (BsonDocument document : store.collection()
			.find(ids(key))
			.projection(PROJECTION)
			.batchSize(key.permits() + 1)) {
			found.add(document, now(document));
		}
		return found;
	}

	private BsonDocument replacement(AcquireRequest request) {
		Request claim = request.claimRequest();
		return (claim != null) ? this.claims.expressions(claim).replacement(FREE, grant(request))
				: doc("$cond", (request.key().permits() > 0) ? FREE_PERMIT : FREE,
						doc("$mergeObjects", ref("$$ROOT"), grant(request)), ref("$$ROOT"));
	}

	private @Nullable BsonDocument usualReplacement(AcquireRequest request) {
		Request claim = request.claimRequest();
		return (claim != null) ? this.claims.expressions(claim).usualReplacement(isUsual(request), usualGrant(request))
				: null;
	}

	/**
	 * Whether a lock was released and its document is kept for long enough. In any other
	 * case, the request is repeated in full.
	 */
	private BsonDocument isUsual(AcquireRequest request) {
		BsonDocument keptUntil = doc("$add", NOW, number(this.times.untilFree(LeaseTimes.millis(request.lease()))
				+ this.times.retention() + LeaseTimes.keptFor(request.claim())));
		return doc("$and", RELEASED, doc("$gte", CLEAN_UP_AT, keptUntil),
				doc("$lte", CLEAN_UP_AT, date(LeaseTimes.NEVER)));
	}

	private Acquired acquire(StoreRequest store, AcquireRequest request, BsonDocument replacement,
			BsonDocument projection) {
		return answered(store, request, take(store, withId(request), List.of(grant(replacement)), projection));
	}

	private static BsonDocument withId(AcquireRequest request) {
		return doc(LockDocument.ID, text(request.key().id()));
	}

	private Acquired answered(StoreRequest store, AcquireRequest request, BsonDocument answer) {
		LeaseKey key = request.key();
		String id = (key.permit() != 0) ? key.id() : key.name();
		if (request.claim() != null && answer.size() == 2) {
			// The lock was never acquired and the claim is refused, or the document is
			// foreign
			find(store, id);
			return refused(request, null, now(answer));
		}
		LockDocument document = LockDocument.read(answer, id, store.collectionName()).orElseThrow();
		return document.isHeldBy(request.key().holder()) ? granted(request, document, request.tokens())
				: refused(request, document, now(answer));
	}

	// A single stage, since each one costs a server as much as the evaluation of many
	// expressions
	private static BsonDocument grant(BsonDocument replacement) {
		return doc("$replaceWith", replacement);
	}

	private static BsonDocument take(StoreRequest store, BsonDocument filter, List<BsonDocument> update,
			BsonDocument projection) {
		return take(store, filter, new BsonArray(update), projection);
	}

	private static BsonDocument take(StoreRequest store, BsonDocument filter, BsonValue update,
			BsonDocument projection) {
		try {
			return findAndTake(store, filter, update, projection);
		}
		catch (MongoException ex) {
			// Another upsert was first and this one had no effect, so the document exists
			// now.
			if (ex.getCode() == DUPLICATE_KEY) {
				return findAndTake(store, filter, update, projection);
			}
			throw ex;
		}
	}

	private static BsonDocument findAndTake(StoreRequest store, BsonDocument filter, BsonValue update,
			BsonDocument projection) {
		return findAndModify(store, filter, update, projection, true).asDocument();
	}

	/**
	 * Send the request as a plain command. The driver's method would make it a retryable
	 * write, for which the servers store the answer with two additional writes. The
	 * engine repeats an acquire itself, with another id.
	 * @return the document after the request; null if there is none
	 */
	private static BsonValue findAndModify(StoreRequest store, BsonDocument filter, BsonValue update,
			BsonDocument projection, boolean upsert) {
		BsonDocument command = doc("findAndModify", text(store.collectionName())).append("query", filter)
			.append("update", update)
			.append("upsert", BsonBoolean.valueOf(upsert))
			.append("new", BsonBoolean.TRUE)
			.append("fields", projection)
			.append("writeConcern", MAJORITY);
		BsonDocument answer = store.command(command);
		if (answer.containsKey(UnconfirmedWriteException.FIELD)) {
			throw new UnconfirmedWriteException(answer);
		}
		return answer.get("value", BsonNull.VALUE);
	}

	private BsonDocument grant(AcquireRequest request) {
		return usualGrant(request).append(LockDocument.TOKEN, lastToken(request.tokens()))
			.append(LockDocument.FENCE_PENDING, NEXT_FENCE_PENDING)
			.append(LockDocument.CLEAN_UP_AT, cleanUpAt(doc("$max", freeAt(request.lease()), DATE_OF_TOKEN),
					LeaseTimes.keptFor(request.claim())));
	}

	private BsonDocument usualGrant(AcquireRequest request) {
		BsonDocument grant = new BsonDocument(LockDocument.HOLDER, literal(request.key().holder()))
			.append(LockDocument.ACQUIRER, literal(request.acquirer()))
			.append(LockDocument.THREAD, literal(request.thread()))
			.append(LockDocument.WHY, literal(request.why()))
			.append(LockDocument.TOKEN, lastTokenOfNow(request.tokens()))
			.append(LockDocument.ACQUIRED_AT, NOW)
			.append(LockDocument.UPDATED_AT, NOW)
			.append(LockDocument.EXPIRES_AT, freeAt(request.lease()))
			// Merging objects removes no field
			.append(LockDocument.RELEASED_AT, BsonNull.VALUE)
			.append(LockDocument.LEASE_MILLIS, number(LeaseTimes.millis(request.lease())))
			.append(LockDocument.FENCE_PENDING, FENCE_IS_PENDING);
		if (request.key().permits() > 0) {
			grant.append(LockDocument.PERMITS, number(request.key().permits()))
				.append(LockDocument.PERMITS_BEFORE, STORED_PERMITS);
		}
		return request.askable()
				? grant.append(LockDocument.RUN_AGAIN, LockDocument.askable(literal(request.key().holder()))) : grant;
	}

	private BsonDocument freeAt(Duration lease) {
		return doc("$add", NOW, number(this.times.untilFree(LeaseTimes.millis(lease))));
	}

	private BsonDocument cleanUpAt(BsonValue unused, long keptForClaim) {
		BsonDocument earliest = doc("$add", unused, number(this.times.retention() + keptForClaim));
		return doc("$let", doc("vars", doc("earliest", earliest)).append("in",
				(keptForClaim == 0) ? this.cleanUpOfLock : this.cleanUpOfClaim));
	}

	/**
	 * Keep the stored date while it is late enough, so that the index does not change. A
	 * date that was set manually and is too late is replaced, unless the document has run
	 * records: those live no shorter than they were promised to.
	 */
	private static BsonDocument storedOrLatest(LeaseTimes times, boolean ofClaim) {
		BsonString earliest = ref("$$earliest");
		BsonDocument latest = doc("$add", earliest, number(times.retentionSlack()));
		BsonValue sensible = date(LeaseTimes.NEVER);
		if (!ofClaim) {
			sensible = doc("$cond", hasType(ref("$" + LockDocument.JOBS), "missing"), latest, sensible);
		}
		BsonDocument keep = doc("$and", doc("$gte", CLEAN_UP_AT, earliest), doc("$lte", CLEAN_UP_AT, sensible));
		return doc("$cond", keep, CLEAN_UP_AT, latest);
	}

	// The last token of the next block; a missing token counts as zero.
	private static BsonDocument lastToken(int tokens) {
		return doc("$max", doc("$add", TOKEN, number(tokens)), lastTokenOfNow(tokens));
	}

	private static BsonDocument lastTokenOfNow(int tokens) {
		return (tokens == 1) ? FIRST_TOKEN_OF_NOW : doc("$add", FIRST_TOKEN_OF_NOW, number(tokens - 1));
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(StoreRequest store, Collection<LeaseKey> leases,
			boolean fenceIsRaised) {
		BsonDocument filter = renewable(doc(LockDocument.ID, anyOf(leases, LeaseKey::id)).append(LockDocument.HOLDER,
				anyOf(leases, LeaseKey::holder)));
		long renewed = store.collection()
			.updateMany(filter, fenceIsRaised ? this.fencedRenewal : this.renewal)
			.getMatchedCount();
		if (renewed == leases.size()) {
			return Map.of();
		}
		FoundLocks found = new FoundLocks();
		// A full batch would require another, empty one.
		for (BsonDocument document : store.collection()
			.find(doc(LockDocument.ID, anyOf(leases, LeaseKey::id)))
			.projection(PROJECTION)
			.batchSize(leases.size() + 1)) {
			found.add(document, now(document));
		}
		return found.gone(leases, renewed);
	}

	// One document that was corrupted manually must not fail the renewal of all others
	private static BsonDocument renewable(BsonDocument filter) {
		return filter.append(LockDocument.LEASE_MILLIS, IS_LONG)
			.append(LockDocument.ACQUIRED_AT, IS_DATE)
			.append("$expr", NOT_EXPIRED.get("$expr"));
	}

	@Override
	public boolean extend(StoreRequest store, LeaseKey lease, Duration atLeast) {
		BsonDocument update = atLeast(freeAt(atLeast));
		BsonDocument filter = heldBy(lease).append("$expr", NOT_EXPIRED.get("$expr"));
		return store.collection().updateOne(filter, List.of(update)).getMatchedCount() > 0;
	}

	/**
	 * Change the end of a lease that no other request has changed since it was read. Each
	 * of them changes {@code updatedAt}, so a request that is delayed finds another date.
	 */
	@Override
	public boolean extendExactly(StoreRequest store, LeaseKey lease, Duration duration) {
		BsonDocument until = freeAt(duration);
		while (true) {
			BsonDocument held = heldBy(lease).append("$expr", NOT_EXPIRED.get("$expr"));
			BsonDocument found = store.collection().find(held).projection(PROJECTION).first();
			if (found == null) {
				return false;
			}
			BsonValue updatedAt = found.get(LockDocument.UPDATED_AT, BsonNull.VALUE);
			// Another request of the same millisecond would leave the same date
			boolean unique = !updatedAt.equals(BsonParts.date(now(found)));
			if (unique && store.collection()
				.updateOne(held.append(LockDocument.UPDATED_AT, updatedAt), List.of(ending(until, until)))
				.getMatchedCount() > 0) {
				return true;
			}
			checkExactChange(store, lease);
		}
	}

	// Never shortens a lease, since requests may be applied in another order than they
	// were sent.
	private BsonDocument atLeast(BsonDocument until) {
		return ending(doc("$max", EXPIRES_AT, until), until);
	}

	private BsonDocument ending(BsonDocument expiresAt, BsonDocument until) {
		return doc("$set", doc(LockDocument.EXPIRES_AT, expiresAt).append(LockDocument.UPDATED_AT, NOW)
			.append(LockDocument.CLEAN_UP_AT, doc("$max", CLEAN_UP_AT, cleanUpAt(until, 0))));
	}

	@Override
	boolean releaseLater(StoreRequest store, LeaseKey lease, long minHoldMillis, FenceMark mark,
			Claim.@Nullable End end) {
		BsonDocument keep = released(minHoldMillis, mark);
		if (end == null) {
			return updateUnrecorded(store, heldBy(lease), List.of(doc("$set", keep)));
		}
		ClaimStatements.End recorded = this.claims.end(end);
		BsonDocument ended = ended(keep, recorded);
		return releaseClaim(lease, recorded, (filter) -> updateUnrecorded(store, filter, List.of(doc("$set", ended))),
				(filter) -> updateUnrecorded(store, filter, List.of(doc("$set", keep))));
	}

	private static BsonDocument released(long minHoldMillis, FenceMark mark) {
		return marked(doc(LockDocument.HOLDER, ref("$$REMOVE")).append(LockDocument.RELEASED_AT, NOW)
			.append(LockDocument.EXPIRES_AT, doc("$add", NOW, number(minHoldMillis))), mark);
	}

	private static BsonDocument ended(BsonDocument released, ClaimStatements.End end) {
		BsonDocument ended = released.clone().append(end.endedAt(), NOW);
		end.texts().forEach((path, value) -> ended.append(path, literal(value)));
		return ended;
	}

	@Override
	long firstToken(StoreRequest store) {
		// A grant compares the token with the server's clock, so any small one is
		// sufficient
		return 0;
	}

	@Override
	FindIterable<BsonDocument> select(StoreRequest store, BsonDocument filter, Collection<Claim.Key> records) {
		BsonDocument projection = PROJECTION.clone().append(NOTHING_FIELD, NOTHING_THERE);
		for (Claim.Key key : records) {
			ClaimStatements.Fields fields = this.claims.fields(key);
			projection.append(fields.record(), new BsonInt32(1));
			if (fields.origin() != null) {
				projection.append(fields.origin(), new BsonInt32(1));
			}
		}
		return store.collection().find(filter).projection(projection);
	}

	@Override
	<T> Optional<T> readSelected(StoreRequest store, String name, @Nullable BsonDocument selected,
			BiFunction<LockDocument, Long, @Nullable T> reading) {
		if (selected == null || selected.getBoolean(NOTHING_FIELD).getValue()) {
			return Optional.empty();
		}
		return LockDocument.read(selected, name, store.collectionName())
			.map((lock) -> reading.apply(lock, now(selected)));
	}

	@Override
	public LockPage findAll(StoreRequest store, ListRequest request) {
		BsonDocument filter = FoundLocks.from(request);
		if (!request.released()) {
			// By type as well, which is cheaper than an expression: most documents are of
			// released locks, which have no date
			filter.append(LockDocument.EXPIRES_AT, IS_DATE).putAll(NOT_EXPIRED);
		}
		return new FoundLocks().page(request, store.collection().find(filter).projection(PROJECTION),
				PipelineStatements::now);
	}

	@Override
	BsonDocument stillTaken(StoreRequest store) {
		return NOT_EXPIRED;
	}

	private static long now(BsonDocument answer) {
		return answer.getDateTime(NOW_FIELD).getValue();
	}

	private static BsonDocument hasType(BsonValue expression, String type) {
		return doc("$eq", type(expression), text(type));
	}

	private static BsonDocument type(BsonValue expression) {
		return doc("$type", expression);
	}

	// Only our own fields: a foreign document may be large, or contain a field named
	// "now".
	private static BsonDocument projection() {
		BsonDocument projection = new BsonDocument();
		for (String field : List.of(LockDocument.HOLDER, LockDocument.ACQUIRER, LockDocument.THREAD, LockDocument.WHY,
				LockDocument.TOKEN, LockDocument.ACQUIRED_AT, LockDocument.UPDATED_AT, LockDocument.EXPIRES_AT,
				LockDocument.LEASE_MILLIS, LockDocument.RELEASED_AT, LockDocument.FENCE_PENDING, LockDocument.PERMITS,
				LockDocument.PERMITS_BEFORE)) {
			projection.append(field, new BsonInt32(1));
		}
		return projection.append(NOW_FIELD, NOW);
	}

}
