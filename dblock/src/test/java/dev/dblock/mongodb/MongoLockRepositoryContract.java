package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.dblock.ForeignDocumentException;
import dev.dblock.LockInfo;
import dev.dblock.core.JobRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.mongodb.request.Requests;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.AcquireAnswer.Refused;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.MongoServer;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The contract of all dialects on every server, with the stored form.
 */
abstract class MongoLockRepositoryContract extends JobRepositoryContract {

	static final Duration ALLOWANCE = Duration.ofMillis(500);

	static final Duration RETENTION = Duration.ofDays(1);

	/** By how much longer a document may be kept, for the sake of its index. */
	static final Duration RETENTION_SLACK = Duration.ofHours(1);

	/** For how long both clocks of {@link #pausedLocks()} were stopped. */
	private final AtomicLong pausedMillis = new AtomicLong();

	MongoServer server;

	MongoClient client;

	String database;

	MongoCollection<Document> documents;

	MongoLockRepository locks;

	/** The time of the server's clock when the test began. */
	private long opened;

	abstract StatementDialect dialect();

	@BeforeEach
	void openStore(MongoServer server) {
		this.server = server;
		this.client = server.client();
		this.database = server.freshDatabase();
		this.documents = this.client.getDatabase(this.database).getCollection("locks");
		this.opened = serverTime();
		this.locks = repository(ALLOWANCE);
	}

	MongoLockRepository repository(Duration allowance) {
		return new MongoLockRepository(factory(), settings(allowance));
	}

	MongoDatabaseFactory factory() {
		return new SimpleMongoClientDatabaseFactory(this.client, this.database);
	}

	private MongoLockSettings settings(Duration allowance) {
		return new MongoLockSettings("locks", allowance, RETENTION, TIMEOUT, dialect(), true, false);
	}

	/**
	 * The same locks, from a virtual machine whose clocks both stop while it is paused.
	 */
	private MongoLockRepository pausedLocks() {
		MongoLockRepository locks = new MongoLockRepository(factory(), settings(ALLOWANCE),
				() -> System.nanoTime() - Duration.ofMillis(this.pausedMillis.get()).toNanos(),
				() -> System.currentTimeMillis() - this.pausedMillis.get());
		locks.acquire(request(key("before the pause"), LEASE));
		this.pausedMillis.set(Duration.ofHours(1).toMillis());
		return locks;
	}

	@Override
	protected final LockRepository locks() {
		return this.locks;
	}

	@Override
	protected final LockRepository exactLocks() {
		return repository(Duration.ZERO);
	}

	@Override
	protected final Document stored(String name) {
		return this.documents.find(new Document("_id", name)).first();
	}

	@Override
	protected final void endIn(String name, Duration left) {
		set(name, "expiresAt", new Date(serverTime() + left.toMillis()));
	}

	@Override
	protected final void forget(String name) {
		this.documents.deleteOne(new Document("_id", name));
	}

	@Override
	protected final Instant storeTime() {
		return Instant.ofEpochMilli(serverTime());
	}

	/**
	 * The clock allowance, and a thousandth of the lease.
	 */
	@Override
	protected final Duration marginOf(Duration lease) {
		return ALLOWANCE.plus(lease.dividedBy(1000));
	}

	void set(String name, String field, Object value) {
		this.documents.updateOne(new Document("_id", name), new Document("$set", new Document(field, value)));
	}

	long serverTime() {
		return Requests.serverTime(Requests.on(this.client.getDatabase(this.database), "locks", TIMEOUT));
	}

	/**
	 * The possible error of the estimate of the server's clock: classic operators go by a
	 * sample, which was taken since the test began and is the worse the longer the server
	 * took to answer.
	 */
	@Override
	protected final Duration slack() {
		if (dialect() == StatementDialect.PIPELINE) {
			return Duration.ZERO;
		}
		long passed = serverTime() - this.opened;
		return Duration.ofMillis(Requests.inaccuracy(passed) + 5);
	}

	/**
	 * In a pipeline the server counts from the date that it writes. Classic operators
	 * count from before they are sent, the server writes its date when it applies them.
	 */
	@Override
	protected final boolean countsFromStoredTime() {
		return dialect() == StatementDialect.PIPELINE;
	}

	/** Without the field to which a grant by a pipeline assigns no value. */
	final Set<String> fieldsOfAGrant(Document stored) {
		Set<String> fields = new HashSet<>(stored.keySet());
		if (fields.remove("releasedAt")) {
			assertThat(stored.get("releasedAt")).isNull();
		}
		return fields;
	}

	@Test
	void aNewDocumentHasTheseFields() {
		LeaseKey key = key("stock");
		Granted granted = (Granted) this.locks
			.acquire(new AcquireRequest(key, LEASE, "host-7", "worker-3", "invoices", TIMEOUT));
		Document stored = stored("stock");
		assertThat(fieldsOfAGrant(stored)).containsExactlyInAnyOrder("_id", "holder", "acquirer", "thread", "why",
				"token", "acquiredAt", "updatedAt", "expiresAt", "leaseMillis", "cleanUpAt");
		assertThat(stored).containsEntry("_id", "stock")
			.containsEntry("holder", key.holder())
			.containsEntry("acquirer", "host-7")
			.containsEntry("thread", "worker-3")
			.containsEntry("why", "invoices")
			.containsEntry("token", granted.lastToken())
			.containsEntry("leaseMillis", LEASE.toMillis());
		assertThat(stored.getDate("acquiredAt").toInstant()).isEqualTo(granted.acquiredAt());
		// A classic server may stamp the two a millisecond apart
		assertThat(stored.getDate("updatedAt")).isBetween(stored.getDate("acquiredAt"), stored.getDate("expiresAt"),
				true, true);
		assertThat(stored.getDate("cleanUpAt").toInstant()).isBetween(
				stored.getDate("expiresAt").toInstant().plus(RETENTION),
				stored.getDate("expiresAt").toInstant().plus(RETENTION).plus(RETENTION_SLACK));
	}

	static Stream<Document> foreignDocuments() {
		Date past = new Date(0);
		return Stream.of(new Document("order", 1), new Document("token", "abc"), new Document("token", 1),
				new Document("token", 1.5), new Document("token", null), new Document("expiresAt", past),
				new Document("holder", "me"), new Document("token", 1L).append("expiresAt", "soon"),
				new Document("token", 1L).append("expiresAt", null), new Document("token", 1L).append("expiresAt", 5L),
				new Document("token", 1L).append("holder", 5).append("expiresAt", past),
				new Document("token", (1L << 62) + 1).append("expiresAt", past),
				new Document("token", 1).append("holder", "me").append("expiresAt", past).append("leaseMillis", 5L),
				new Document("now", "a field of somebody else's"),
				new Document("token", 7L).append("customer", "bob").append("total", 12),
				new Document("token", 7L).append("holder", "me").append("expiresAt", past),
				new Document("token", 7L).append("leaseMillis", 5L),
				new Document("token", 7L).append("acquiredAt", past),
				new Document("token", 7L).append("holder", "me").append("leaseMillis", 5).append("acquiredAt", past),
				new Document("token", 7L).append("leaseMillis", 5L).append("acquiredAt", "today"));
	}

	@ParameterizedTest
	@MethodSource("foreignDocuments")
	void aForeignDocumentIsRefusedWithItsNameAndNeverOverwritten(Document foreign) {
		this.documents.insertOne(new Document("_id", "stock").append("a", 1).append("b", "x"));
		Document document = new Document("_id", "other").append("kept", true);
		document.putAll(foreign);
		this.documents.insertOne(document);
		LeaseKey key = key("other");
		for (Callable<?> access : List.<Callable<?>>of(() -> acquire(key), () -> this.locks.find("other"),
				() -> this.locks.forceRelease("other"), () -> this.locks.forceReleaseNow("other"))) {
			assertThatExceptionOfType(ForeignDocumentException.class).isThrownBy(access::call)
				.withMessageContaining("'other'")
				.withMessageContaining("'locks'")
				.satisfies((ex) -> assertThat(ex.name()).isEqualTo("other"));
		}
		assertThat(this.locks.findAll(ListRequest.all("")).locks()).isEmpty();
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).isEqualTo(Map.of(key, Optional.empty()));
		assertThat(this.locks.extend(key, LEASE, TIMEOUT)).isFalse();
		assertThat(release(key, Duration.ZERO)).isFalse();
		assertThat(stored("other")).isEqualTo(document);
	}

	@Test
	void fieldsOfLaterVersionsSurviveEveryRequest() {
		LeaseKey first = acquired("stock");
		Document later = new Document("runs", List.of(1, 2)).append("text", "$$ROOT");
		set("stock", "later", later);
		this.locks.renew(List.of(first), TIMEOUT);
		this.locks.extend(first, LEASE.multipliedBy(2), TIMEOUT);
		this.locks.extendExactly(first, LEASE, TIMEOUT);
		release(first, Duration.ZERO);
		LeaseKey second = acquired("stock");
		assertThat(stored("stock")).containsEntry("later", later);
		assertThat(stored("stock").get("releasedAt")).isNull();
		release(second, LEASE);
		this.locks.forceReleaseNow("stock");
		LeaseKey crashed = acquired("stock");
		expire("stock");
		acquired("stock");
		this.locks.forceRelease("stock");
		assertThat(stored("stock")).containsEntry("later", later).doesNotContainEntry("holder", crashed.holder());
	}

	@Test
	void aRefusalChangesNothing() {
		LeaseKey key = acquired("stock");
		release(key, LEASE);
		Document before = stored("stock");
		assertThat(before.getDate("releasedAt")).isNotNull();
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
		assertThat(stored("stock")).isEqualTo(before);
	}

	@Test
	void aDocumentWithNothingButItsIdIsAFreeName() {
		this.documents.insertOne(new Document("_id", "stock"));
		assertThat(this.locks.find("stock")).isEmpty();
		assertThat(this.locks.forceRelease("stock")).isFalse();
		assertThat(acquire(key("stock"))).isInstanceOf(Granted.class);
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
	}

	@Test
	void tokensRiseWhereTheClockIsBehindThem() {
		acquired("stock");
		long future = (System.currentTimeMillis() + Duration.ofDays(3).toMillis()) * 1024;
		set("stock", "token", future);
		expire("stock");
		Granted granted = granted("stock");
		assertThat(granted.token()).isEqualTo(future + 1);
		assertThat(granted.lastToken()).isEqualTo(future + 1024);
		assertThat(stored("stock").getDate("cleanUpAt").getTime()).isBetween(future / 1024 + RETENTION.toMillis(),
				future / 1024 + RETENTION.plus(RETENTION_SLACK).toMillis());
	}

	@Test
	void aGrantAndARenewalLeaveTheDateOfCleaningUpAloneWhileItIsLateEnough() {
		LeaseKey first = acquired("stock");
		Date lateEnough = new Date(stored("stock").getDate("expiresAt").getTime()
				+ RETENTION.plus(RETENTION_SLACK.dividedBy(2)).toMillis());
		set("stock", "cleanUpAt", lateEnough);
		release(first, Duration.ZERO);
		LeaseKey second = acquired("stock");
		assertThat(stored("stock").getDate("cleanUpAt")).isEqualTo(lateEnough);
		assertThat(this.locks.renew(List.of(second), TIMEOUT)).isEmpty();
		assertThat(stored("stock").getDate("cleanUpAt")).isEqualTo(lateEnough);
	}

	@Test
	void aGrantCorrectsADateOfCleaningUpThatIsFarTooLate() {
		LeaseKey first = acquired("stock");
		set("stock", "cleanUpAt", new Date(serverTime() + Duration.ofDays(900).toMillis()));
		release(first, Duration.ZERO);
		acquired("stock");
		Document stored = stored("stock");
		assertThat(stored.getDate("cleanUpAt").toInstant())
			.isBeforeOrEqualTo(stored.getDate("expiresAt").toInstant().plus(RETENTION).plus(RETENTION_SLACK));
	}

	@Test
	void aRenewalMovesTheCleanUpToALaterDateOnly() {
		LeaseKey key = acquired("stock");
		Date soon = new Date(serverTime() + LEASE.toMillis() / 2);
		set("stock", "expiresAt", soon);
		set("stock", "cleanUpAt", soon);
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).isEmpty();
		Document renewed = stored("stock");
		assertThat(renewed.getDate("cleanUpAt").toInstant()).isBetween(
				renewed.getDate("expiresAt").toInstant().plus(RETENTION),
				renewed.getDate("expiresAt").toInstant().plus(RETENTION).plus(RETENTION_SLACK));
		this.locks.extend(key, Duration.ofHours(1), TIMEOUT);
		Document extended = stored("stock");
		this.locks.renew(List.of(key), TIMEOUT);
		assertThat(stored("stock").getDate("cleanUpAt")).isEqualTo(extended.getDate("cleanUpAt"));
		assertThat(stored("stock").getLong("leaseMillis")).isEqualTo(LEASE.toMillis());
	}

	@Test
	void aRenewalThatMovesTheCleanUpLeavesRoomForThoseToCome() {
		LeaseKey key = acquired("stock");
		set("stock", "cleanUpAt", stored("stock").getDate("expiresAt"));
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).isEmpty();
		Document renewed = stored("stock");
		assertThat(renewed.getDate("cleanUpAt").toInstant())
			.isEqualTo(renewed.getDate("expiresAt").toInstant().plus(RETENTION).plus(RETENTION_SLACK));
	}

	@Test
	void aReleaseRemovesHolderAndExpiryAndKeepsTheCleanUp() {
		LeaseKey key = acquired("stock");
		Document held = stored("stock");
		release(key, Duration.ZERO);
		Document released = stored("stock");
		assertThat(released.keySet()).doesNotContain("holder", "expiresAt");
		assertThat(released.getDate("cleanUpAt")).isEqualTo(held.getDate("cleanUpAt"));
		acquired("stock");
		assertThat(stored("stock")).containsKey("holder");
		assertThat(stored("stock").get("releasedAt")).isNull();
	}

	@Test
	void theFenceIsNotPendingAfterARelease() {
		LeaseKey expired = acquired("stock");
		expire("stock");
		release(expired, Duration.ZERO);
		LeaseKey key = acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", false);
		release(key, Duration.ofMinutes(5));
		assertThat(stored("stock")).doesNotContainKey("holder");
		expire("stock");
		acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", false);
	}

	@Test
	void aForcedReleaseLeavesTheFencePending() {
		acquired("stock");
		this.locks.forceRelease("stock");
		assertThat(stored("stock")).doesNotContainKey("holder").containsEntry("fencePending", true);
		acquired("other");
		this.locks.forceReleaseNow("other");
		assertThat(stored("other")).doesNotContainKeys("holder", "expiresAt").containsEntry("fencePending", true);
		assertThat(stored("other").getDate("releasedAt")).isNotNull();
	}

	@Test
	void theEndOfAMinimumHoldLeavesNoFencePending() {
		release(acquired("stock"), LEASE);
		this.locks.forceReleaseNow("stock");
		assertThat(stored("stock")).doesNotContainKeys("expiresAt", "fencePending");
	}

	@Test
	void aTakeOverFromAHolderThatDidNotReleaseLeavesTheFencePending() {
		release(acquired("stock"), Duration.ZERO);
		acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", false);
		expire("stock");
		LeaseKey second = acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", true);
		this.locks.renew(List.of(second), TIMEOUT);
		release(second, Duration.ZERO);
		assertThat(stored("stock")).containsEntry("fencePending", true);
		acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", true);
	}

	@Test
	void aTakeOverAfterAForcedReleaseLeavesTheFencePending() {
		acquired("stock");
		this.locks.forceReleaseNow("stock");
		acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", true);
	}

	@Test
	void aMalformedDocumentDoesNotKeepTheOthersFromBeingRenewed() {
		LeaseKey spoilt = acquired("spoilt");
		LeaseKey good = acquired("good");
		set("spoilt", "leaseMillis", "long");
		Date soon = new Date(serverTime() + LEASE.toMillis() / 2);
		set("good", "expiresAt", soon);
		assertThat(this.locks.renew(List.of(spoilt, good), TIMEOUT)).containsOnlyKeys(spoilt);
		assertThat(stored("good").getDate("expiresAt")).isAfter(soon);
	}

	@ParameterizedTest
	@ValueSource(strings = { "token", "leaseMillis", "acquiredAt" })
	void malformedMandatoryFieldsAreRefusedAlsoToTheHolder(String field) {
		LeaseKey key = acquired("stock");
		set("stock", field, 5.0);
		assertThatExceptionOfType(ForeignDocumentException.class).isThrownBy(() -> acquire(key));
		expire("stock");
		assertThatExceptionOfType(ForeignDocumentException.class).isThrownBy(() -> acquire(key("stock")));
		assertThat(stored("stock").get(field)).isEqualTo(5.0);
	}

	@Test
	void otherMalformedFieldsAreReadAsAbsent() {
		acquired("stock");
		set("stock", "why", 5);
		set("stock", "updatedAt", "yesterday");
		set("stock", "fencePending", "yes");
		assertThat(this.locks.find("stock")).get().satisfies((lock) -> {
			assertThat(lock.why()).isNull();
			assertThat(lock.updatedAt()).isNull();
		});
		this.locks.forceReleaseNow("stock");
		set("stock", "fencePending", "yes");
		acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", false);
	}

	@Test
	void aGrantAfterAPauseLastsAWholeLease() {
		MongoLockRepository paused = pausedLocks();
		Instant before = storeTime();
		assertThat(paused.acquire(request(key("stock"), LEASE))).isInstanceOf(Granted.class);
		assertThat(look("stock").expiresAt()).isAfterOrEqualTo(before.plus(LEASE).plus(marginOf(LEASE)));
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
	}

	@Test
	void aTakeOverAfterAPauseLastsAWholeLease() {
		Granted first = granted("stock");
		set("stock", "expiresAt", new Date(1000));
		MongoLockRepository paused = pausedLocks();
		Instant before = storeTime();
		Granted second = (Granted) paused.acquire(request(key("stock"), LEASE));
		assertThat(second.token()).isGreaterThan(first.lastToken());
		assertThat(look("stock").expiresAt()).isAfterOrEqualTo(before.plus(LEASE).plus(marginOf(LEASE)));
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
	}

	@Test
	void aRenewalAfterAPauseLastsAWholeLease() {
		LeaseKey key = acquired("stock");
		endIn("stock", LEASE.dividedBy(2));
		MongoLockRepository paused = pausedLocks();
		Instant before = storeTime();
		assertThat(paused.renew(List.of(key), TIMEOUT)).isEmpty();
		assertThat(look("stock").expiresAt()).isAfterOrEqualTo(before.plus(LEASE).plus(marginOf(LEASE)));
	}

	@Test
	void aLeaseThatExpiredDuringAPauseIsNotRenewed() {
		LeaseKey key = acquired("stock");
		expire("stock");
		MongoLockRepository paused = pausedLocks();
		assertThat(paused.renew(List.of(key), TIMEOUT)).containsOnlyKeys(key);
		assertThat(acquire(key("stock"))).isInstanceOf(Granted.class);
	}

	@Test
	void anExtensionAfterAPauseLastsAsLongAsItPromises() {
		LeaseKey key = acquired("stock");
		MongoLockRepository paused = pausedLocks();
		Duration promised = LEASE.multipliedBy(2);
		Instant before = storeTime();
		assertThat(paused.extend(key, promised, TIMEOUT)).isTrue();
		assertThat(look("stock").expiresAt()).isAfterOrEqualTo(before.plus(promised).plus(marginOf(promised)));
		expire("stock");
		this.pausedMillis.addAndGet(Duration.ofHours(1).toMillis());
		assertThat(paused.extend(key, promised, TIMEOUT)).isFalse();
		assertThat(acquire(key("stock"))).isInstanceOf(Granted.class);
	}

	@Test
	void anExactExtensionAfterAPauseLastsAsLongAsItPromises() {
		LeaseKey key = acquired("stock");
		MongoLockRepository paused = pausedLocks();
		Duration promised = Duration.ofMinutes(1);
		Instant before = storeTime();
		assertThat(paused.extendExactly(key, promised, TIMEOUT)).isTrue();
		assertThat(look("stock").expiresAt()).isBetween(before.plus(promised).plus(marginOf(promised)),
				before.plus(LEASE));
	}

	@Test
	void aMinimumHoldAfterAPauseKeepsTheNameTakenForAllOfIt() {
		LeaseKey key = acquired("stock");
		MongoLockRepository paused = pausedLocks();
		Instant before = storeTime();
		assertThat(paused.release(key, LEASE, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThat(look("stock").expiresAt()).isAfterOrEqualTo(before.plus(LEASE));
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
	}

	@Test
	void aLeaseOfLessThanAMillisecondIsStoredAsOne() {
		this.locks.acquire(request(key("stock"), Duration.ofNanos(1)));
		assertThat(stored("stock").getLong("leaseMillis")).isEqualTo(1);
	}

	@Test
	void documentsThatAreNoLocksAreNotListed() {
		acquired("a.b");
		this.documents.insertOne(new Document("_id", "a.foreign").append("x", 1));
		this.documents.insertOne(new Document("_id", 7).append("token", 1L));
		assertThat(this.locks.findAll(ListRequest.all("a.")).locks()).extracting(LockInfo::name).containsExactly("a.b");
		assertThat(this.locks.findAll(ListRequest.all("")).locks()).hasSize(1);
	}

	@Test
	void aGrantWithPermitsHasTheseFieldsBesides() {
		allAcquired("stock", 2);
		assertThat(fieldsOfAGrant(stored("stock (permit 2)"))).containsExactlyInAnyOrder("_id", "holder", "acquirer",
				"thread", "why", "token", "acquiredAt", "updatedAt", "expiresAt", "leaseMillis", "cleanUpAt", "permits",
				"permitsBefore");
		assertThat(stored("stock")).containsEntry("permits", 2L).containsEntry("permitsBefore", 0L);
		expire("stock");
		acquired("stock", 4);
		assertThat(stored("stock")).containsEntry("permits", 4L).containsEntry("permitsBefore", 2L);
	}

	@ParameterizedTest
	@MethodSource("foreignDocuments")
	void aForeignDocumentIsNoPermit(Document foreign) {
		Document document = new Document("_id", "stock (permit 2)").append("kept", true);
		document.putAll(foreign);
		this.documents.insertOne(document);
		List<LeaseKey> held = List.of(acquired("stock", 3), acquired("stock", 3));
		assertThat(held).extracting(LeaseKey::permit).containsExactly(1, 3);
		assertThatExceptionOfType(ForeignDocumentException.class).isThrownBy(() -> acquire("stock", 3))
			.withMessageContaining("'stock (permit 2)'");
		assertThat(this.locks.renew(held, TIMEOUT)).isEmpty();
		release(held.get(1), Duration.ZERO);
		assertThat(acquired("stock", 3).permit()).isEqualTo(3);
		assertThat(stored("stock (permit 2)")).isEqualTo(document);
	}

	// A request that ended early may have left it, and a plain lock sees only the first
	// permit
	@Test
	void theFirstPermitIsPreferredThoughItsDocumentHasNothingButItsId() {
		this.documents.insertOne(new Document("_id", "stock"));
		assertThat(acquired("stock", 2).permit()).isEqualTo(1);
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
	}

	@Test
	void aDocumentWithNothingButItsIdIsAFreePermit() {
		this.documents.insertOne(new Document("_id", "stock"));
		this.documents.insertOne(new Document("_id", "stock (permit 2)"));
		assertThat(allAcquired("stock", 2)).extracting(LeaseKey::permit).containsExactlyInAnyOrder(1, 2);
		assertThat(acquire("stock", 2)).isInstanceOf(Refused.class);
	}

	static Stream<Object> numbersBelowTwo() {
		return Stream.of(null, -3, 0L, 1, 0.5, Double.NEGATIVE_INFINITY);
	}

	@ParameterizedTest
	@MethodSource("numbersBelowTwo")
	void aPlainLockIgnoresANumberOfPermitsBelowTwo(@Nullable Object permits) {
		release(acquired("stock"), Duration.ZERO);
		set("stock", "permits", permits);
		LeaseKey plain = acquired("stock");
		assertThat(look("stock").permits()).isBetween(0, 1);
		assertThat(this.locks.renew(List.of(plain), TIMEOUT)).isEmpty();
		assertThat(((Refused) acquire(key("stock"))).lock().held()).isTrue();
		assertThat(release(plain, Duration.ZERO)).isTrue();
		assertThat(((Granted) acquire("stock", 2)).earlierPermits()).isBetween(0, 1);
	}

	static Stream<Object> otherNumbers() {
		return Stream.of(2, 1.5, 1L << 40, Double.POSITIVE_INFINITY, "three", "", true, new Date(0), List.of(),
				new Document());
	}

	/**
	 * What is no number may hide any.
	 */
	@ParameterizedTest
	@MethodSource("otherNumbers")
	void aPlainLockIsRefusedForAnyOtherNumberOfPermits(Object permits) {
		release(acquired("stock"), Duration.ZERO);
		set("stock", "permits", permits);
		set("stock", "permitsBefore", permits);
		assertThat(((Refused) acquire(key("stock"))).lock().permits()).isGreaterThan(1);
		assertThat(look("stock").permits()).isGreaterThan(1);
		assertThat(allAcquired("stock", 3)).hasSize(3);
		assertThat(((Refused) acquire("stock", 3)).permits()).extracting(LockInfo::permits).containsOnly(3);
		expire("stock");
		set("stock", "permits", permits);
		LeaseKey one = acquired("stock", 1);
		assertThat(release(one, Duration.ZERO)).isTrue();
		assertThat(acquire(key("stock"))).isInstanceOf(Granted.class);
	}

	@Test
	void aTakeOverOfAPermitLeavesTheFenceOfThatPermitPending() {
		allAcquired("stock", 2);
		expire("stock (permit 2)");
		LeaseKey successor = acquired("stock", 2);
		assertThat(stored("stock (permit 2)")).containsEntry("holder", successor.holder())
			.containsEntry("fencePending", true);
		assertThat(stored("stock")).doesNotContainKey("fencePending");
		release(LeaseKey.of("stock", successor.holder(), 2), Duration.ZERO);
		assertThat(stored("stock (permit 2)")).containsEntry("fencePending", true);
	}

	@Test
	void lookingAndReadingTheClockWriteNothing() {
		this.locks.find("nothing");
		this.locks.time(TIMEOUT);
		assertThat(this.documents.countDocuments()).isZero();
	}

	@Test
	void theIndexThatRemovesOldDocumentsIsCreatedAtFirstUse() {
		acquired("stock");
		assertThat(cleanUpIndex()).isPresent();
	}

	Optional<Document> cleanUpIndex() {
		return this.documents.listIndexes()
			.into(new ArrayList<>())
			.stream()
			.filter((index) -> index.get("key").equals(new Document("cleanUpAt", 1)))
			.filter((index) -> index.get("expireAfterSeconds", Number.class).intValue() == 0)
			.findFirst();
	}

}
