package dev.dblock.mongodb;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.dblock.ForeignDocumentException;
import dev.dblock.LockInfo;
import dev.dblock.core.AcquireAnswer;
import dev.dblock.core.AcquireAnswer.Granted;
import dev.dblock.core.AcquireAnswer.Refused;
import dev.dblock.core.AcquireRequest;
import dev.dblock.core.LeaseKey;
import dev.dblock.core.StoreTime;
import dev.dblock.testing.MongoServer;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What every dialect does on every server. Time passes by setting the stored dates back,
 * except where a test is about the clock itself.
 */
abstract class LockRepositoryContract {

	static final Duration LEASE = Duration.ofMinutes(10);

	static final Duration ALLOWANCE = Duration.ofMillis(500);

	static final Duration RETENTION = Duration.ofDays(1);

	/** By how much longer a document may be kept, for the sake of its index. */
	static final Duration RETENTION_SLACK = Duration.ofHours(1);

	static final Duration TIMEOUT = Duration.ofSeconds(60);

	/** The clock allowance, and a thousandth of the lease. */
	static final Duration MARGIN = ALLOWANCE.plus(LEASE.dividedBy(1000));

	private final Hello hello = new Hello();

	MongoServer server;

	MongoClient client;

	String database;

	MongoCollection<Document> documents;

	MongoLockRepository locks;

	/** What the server's clock showed when the test began. */
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
		return new MongoLockRepository(new SimpleMongoClientDatabaseFactory(this.client, this.database),
				new MongoLockSettings("locks", allowance, RETENTION, TIMEOUT, dialect(), true, false));
	}

	static LeaseKey key(String name) {
		return new LeaseKey(name, UUID.randomUUID().toString());
	}

	static AcquireRequest request(LeaseKey key, Duration lease) {
		return new AcquireRequest(key, lease, "host-1", "main", "a test", TIMEOUT);
	}

	AcquireAnswer acquire(LeaseKey key) {
		return this.locks.acquire(request(key, LEASE));
	}

	LeaseKey acquired(String name) {
		LeaseKey key = key(name);
		assertThat(acquire(key)).isInstanceOf(Granted.class);
		return key;
	}

	Granted granted(String name) {
		return (Granted) acquire(key(name));
	}

	Document stored(String name) {
		return this.documents.find(new Document("_id", name)).first();
	}

	void set(String name, String field, Object value) {
		this.documents.updateOne(new Document("_id", name), new Document("$set", new Document(field, value)));
	}

	void expire(String name) {
		set(name, "expiresAt", new Date(System.currentTimeMillis() - 60_000));
	}

	long serverTime() {
		StoreRequest store = new StoreRequest(this.client.getDatabase(this.database), new LockCollection("locks"),
				TIMEOUT);
		return this.hello.say(store).getDateTime("localTime").getValue();
	}

	/**
	 * By how much what is known of the server's clock may be wrong: classic operators go
	 * by a sample, which was taken since the test began and is the worse the longer the
	 * server took to answer.
	 */
	private Duration slack() {
		if (dialect() == StatementDialect.PIPELINE) {
			return Duration.ZERO;
		}
		long passed = serverTime() - this.opened;
		return Duration.ofMillis(passed + LeaseTimes.driftOf(passed) + 5);
	}

	// In a pipeline the server counts from the date that it writes. Classic operators
	// count from before they are sent, the server writes its date when it applies them.
	private void assertLasts(Document stored, String since, long before, Duration promised) {
		Instant expiresAt = stored.getDate("expiresAt").toInstant();
		if (dialect() == StatementDialect.PIPELINE) {
			assertThat(expiresAt).isEqualTo(stored.getDate(since).toInstant().plus(promised));
		}
		else {
			assertThat(expiresAt).isBetween(Instant.ofEpochMilli(before).plus(promised),
					Instant.ofEpochMilli(serverTime()).plus(promised).plus(slack()));
		}
	}

	@Test
	void tellsWhatTheClockShowsThatDecides() {
		StoreTime time = this.locks.time(TIMEOUT).orElseThrow();
		assertThat(time.notAfter()).isAfterOrEqualTo(time.notBefore());
		assertThat(granted("stock").acquiredAt()).isBetween(time.notBefore(), time.notAfter().plusSeconds(3600));
		assertThat(time.notBefore()).isAfter(granted("other").acquiredAt().minusSeconds(3600));
		assertThat(this.documents.countDocuments()).as("nothing is left of the question").isEqualTo(2);
	}

	@Test
	void grantsAFreeNameAndStoresWhoHasItSinceWhenForWhatAndForHowLong() {
		LeaseKey key = key("stock");
		long before = serverTime();
		Granted granted = (Granted) this.locks
			.acquire(new AcquireRequest(key, LEASE, "host-7", "worker-3", "invoices", TIMEOUT));
		long after = serverTime();
		assertThat(granted.lastToken()).isEqualTo(granted.token() + 1023);
		assertThat(granted.token()).isBetween(before * 1024, after * 1024);
		Document stored = stored("stock");
		assertThat(stored.keySet()).containsExactlyInAnyOrder("_id", "holder", "acquirer", "thread", "why", "token",
				"acquiredAt", "updatedAt", "expiresAt", "leaseMillis", "cleanUpAt");
		assertThat(stored).containsEntry("_id", "stock")
			.containsEntry("holder", key.holder())
			.containsEntry("acquirer", "host-7")
			.containsEntry("thread", "worker-3")
			.containsEntry("why", "invoices")
			.containsEntry("token", granted.lastToken())
			.containsEntry("leaseMillis", LEASE.toMillis());
		Instant acquiredAt = stored.getDate("acquiredAt").toInstant();
		assertThat(stored.getDate("updatedAt")).isEqualTo(stored.getDate("acquiredAt"));
		assertThat(granted.acquiredAt()).isEqualTo(acquiredAt);
		assertThat(acquiredAt).isBetween(Instant.ofEpochMilli(before), Instant.ofEpochMilli(after));
		assertLasts(stored, "acquiredAt", before, LEASE.plus(MARGIN));
		assertThat(stored.getDate("cleanUpAt").toInstant()).isBetween(
				stored.getDate("expiresAt").toInstant().plus(RETENTION),
				stored.getDate("expiresAt").toInstant().plus(RETENTION).plus(RETENTION_SLACK));
	}

	@Test
	void refusalTellsTheHolderSinceWhenForWhatAndHowMuchLonger() {
		LeaseKey holder = acquired("stock");
		LockInfo lock = ((Refused) acquire(key("stock"))).lock();
		Document stored = stored("stock");
		assertThat(lock.name()).isEqualTo("stock");
		assertThat(lock.held()).isTrue();
		assertThat(lock.holder()).isEqualTo(holder.holder());
		assertThat(lock.acquirer()).isEqualTo("host-1");
		assertThat(lock.thread()).isEqualTo("main");
		assertThat(lock.why()).isEqualTo("a test");
		assertThat(lock.token()).isEqualTo(stored.getLong("token"));
		assertThat(lock.acquiredAt()).isEqualTo(stored.getDate("acquiredAt").toInstant());
		assertThat(lock.updatedAt()).isEqualTo(stored.getDate("updatedAt").toInstant());
		assertThat(lock.expiresAt()).isEqualTo(stored.getDate("expiresAt").toInstant());
		assertThat(lock.releasedAt()).isNull();
		assertThat(lock.remaining()).isBetween(Duration.ofMillis(1), LEASE.plus(MARGIN).plus(slack().multipliedBy(2)));
		assertThat(this.locks.find("stock")).get()
			.usingRecursiveComparison()
			.ignoringFields("remaining")
			.isEqualTo(lock);
	}

	@Test
	void refusalLeavesTheDocumentUntouched() {
		acquired("stock");
		Document before = stored("stock");
		acquire(key("stock"));
		assertThat(stored("stock")).isEqualTo(before);
	}

	@Test
	void acquireRepeatedWithTheSameIdReturnsTheSameGrantAndChangesNothing() {
		LeaseKey key = key("stock");
		AcquireAnswer first = acquire(key);
		Document before = stored("stock");
		assertThat(acquire(key)).isEqualTo(first);
		assertThat(stored("stock")).isEqualTo(before);
	}

	@Test
	void acquireRepeatedAfterItsLeaseEndedIsANewGrant() {
		LeaseKey key = key("stock");
		Granted first = (Granted) acquire(key);
		expire("stock");
		assertThat(((Granted) acquire(key)).token()).isGreaterThan(first.lastToken());
	}

	static Stream<String> names() {
		return Stream.of("$$ROOT", "$$NOW", "$where", "$_id", "a.b", "a.$.b", "it's \"quoted\"", "\\E.*", "{$ne: 1}",
				"\uD83D\uDD12\uD83D\uDE00", "__proto__", "constructor", " ", "null", "/re/", "line\nbreak",
				"n".repeat(1000), "\u00e9".repeat(500));
	}

	@ParameterizedTest
	@MethodSource("names")
	void namesAreLiteralText(String name) {
		assertThat(name.getBytes(StandardCharsets.UTF_8).length).isLessThanOrEqualTo(1000);
		LeaseKey key = acquired(name);
		acquired("another");
		assertThat(acquire(key(name))).isInstanceOf(Refused.class);
		assertThat(this.documents.countDocuments()).isEqualTo(2);
		assertThat(stored(name)).containsEntry("_id", name).containsEntry("holder", key.holder());
		assertThat(this.locks.find(name)).get().extracting(LockInfo::name).isEqualTo(name);
		assertThat(this.locks.findAll(name)).extracting(LockInfo::name).containsExactly(name);
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).isEmpty();
		assertThat(this.locks.extend(key, LEASE, TIMEOUT)).isTrue();
		assertThat(this.locks.release(key, Duration.ZERO, TIMEOUT)).isTrue();
		assertThat(stored("another")).containsKey("holder");
	}

	@ParameterizedTest
	@ValueSource(strings = { "$$ROOT", "$$NOW", "$holder", "{$literal: 1}", "", "\uD83D\uDD12" })
	void whatACallerSaysOfItselfIsLiteralText(String text) {
		this.locks.acquire(new AcquireRequest(new LeaseKey("stock", "id-" + text), LEASE, text, text, text, TIMEOUT));
		assertThat(stored("stock")).containsEntry("acquirer", text)
			.containsEntry("thread", text)
			.containsEntry("why", text)
			.containsEntry("holder", "id-" + text);
		assertThat(this.locks.release(new LeaseKey("stock", "id-" + text), Duration.ZERO, TIMEOUT)).isTrue();
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
	void whatIsNotOursIsRefusedWithItsNameAndNeverOverwritten(Document foreign) {
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
		assertThat(this.locks.findAll("")).isEmpty();
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).isEqualTo(Map.of(key, Optional.empty()));
		assertThat(this.locks.extend(key, LEASE, TIMEOUT)).isFalse();
		assertThat(this.locks.release(key, Duration.ZERO, TIMEOUT)).isFalse();
		assertThat(stored("other")).isEqualTo(document);
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
	void takesOverAtTheExpiryByTheServersClockAndNotBefore() {
		MongoLockRepository exact = repository(Duration.ZERO);
		exact.acquire(request(key("stock"), Duration.ofSeconds(1)));
		Instant expiresAt = stored("stock").getDate("expiresAt").toInstant();
		LeaseKey second = key("stock");
		Awaitility.await().pollInterval(Duration.ofMillis(1)).atMost(TIMEOUT).until(() -> {
			Instant asked = Instant.ofEpochMilli(serverTime());
			AcquireAnswer answer = exact.acquire(request(second, LEASE));
			if (answer instanceof Refused held) {
				assertThat(held.lock().remaining()).isPositive();
				assertThat(asked).isBefore(expiresAt.plus(slack()));
			}
			return answer instanceof Granted;
		});
		assertThat(stored("stock").getDate("acquiredAt").toInstant()).isAfterOrEqualTo(expiresAt);
	}

	@Test
	void tokensRiseOverReleaseExpiryTakeOverAndDeletedDocuments() {
		long last = 0;
		for (int i = 0; i < 120; i++) {
			LeaseKey key = key("stock");
			Granted granted = (Granted) acquire(key);
			assertThat(granted.token()).isGreaterThan(last);
			assertThat(granted.lastToken()).isEqualTo(granted.token() + 1023);
			last = granted.lastToken();
			switch (i % 4) {
				case 0 -> this.locks.release(key, Duration.ZERO, TIMEOUT);
				case 1 -> expire("stock");
				case 2 -> this.locks.forceReleaseNow("stock");
				default -> {
					this.documents.deleteOne(new Document("_id", "stock"));
					awaitClockBeyond(last / 1024);
				}
			}
		}
	}

	@Test
	void reservesAsManyTokensAsAreAskedFor() {
		Granted first = granted("stock");
		expire("stock");
		LeaseKey key = key("stock");
		AcquireRequest request = new AcquireRequest(key, LEASE, "host-1", "main", "a test", TIMEOUT, 50_000);
		Granted granted = (Granted) this.locks.acquire(request);
		assertThat(granted.token()).isGreaterThan(first.lastToken());
		assertThat(granted.lastToken()).isEqualTo(granted.token() + 49_999);
		assertThat(stored("stock")).containsEntry("token", granted.lastToken());
		assertThat(this.locks.acquire(request)).isEqualTo(granted);
		this.locks.release(key, Duration.ZERO, TIMEOUT);
		assertThat(granted("stock").token()).isGreaterThan(granted.lastToken());
	}

	private void awaitClockBeyond(long millis) {
		Awaitility.await()
			.atMost(TIMEOUT)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.until(() -> serverTime() > millis);
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
		this.locks.release(first, Duration.ZERO, TIMEOUT);
		LeaseKey second = acquired("stock");
		assertThat(stored("stock").getDate("cleanUpAt")).isEqualTo(lateEnough);
		assertThat(this.locks.renew(List.of(second), TIMEOUT)).isEmpty();
		assertThat(stored("stock").getDate("cleanUpAt")).isEqualTo(lateEnough);
	}

	@Test
	void aGrantCorrectsADateOfCleaningUpThatIsFarTooLate() {
		LeaseKey first = acquired("stock");
		set("stock", "cleanUpAt", new Date(serverTime() + RETENTION.multipliedBy(3).toMillis()));
		this.locks.release(first, Duration.ZERO, TIMEOUT);
		acquired("stock");
		Document stored = stored("stock");
		assertThat(stored.getDate("cleanUpAt").toInstant())
			.isBeforeOrEqualTo(stored.getDate("expiresAt").toInstant().plus(RETENTION).plus(RETENTION_SLACK));
	}

	@Test
	void twelveThreadsRacingForNewNamesGetOneGrantEachAndNoError() throws Exception {
		int threads = 12;
		CyclicBarrier start = new CyclicBarrier(threads);
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			for (int i = 0; i < 25; i++) {
				String name = "new-" + i;
				List<Future<AcquireAnswer>> answers = new ArrayList<>();
				for (int t = 0; t < threads; t++) {
					answers.add(executor.submit(() -> {
						start.await();
						return acquire(key(name));
					}));
				}
				int grants = 0;
				for (Future<AcquireAnswer> answer : answers) {
					grants += (answer.get() instanceof Granted) ? 1 : 0;
				}
				assertThat(grants).isEqualTo(1);
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void renewalProlongsToOneLeaseFromNow() {
		LeaseKey key = acquired("stock");
		Date soon = new Date(serverTime() + LEASE.toMillis() / 2);
		set("stock", "expiresAt", soon);
		set("stock", "cleanUpAt", soon);
		long before = serverTime();
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).isEmpty();
		Document stored = stored("stock");
		assertLasts(stored, "updatedAt", before, LEASE.plus(MARGIN));
		assertThat(stored.getDate("updatedAt")).isAfterOrEqualTo(new Date(before));
		assertThat(stored.getDate("cleanUpAt").toInstant()).isBetween(
				stored.getDate("expiresAt").toInstant().plus(RETENTION),
				stored.getDate("expiresAt").toInstant().plus(RETENTION).plus(RETENTION_SLACK));
		assertThat(stored.keySet()).contains("acquiredAt", "holder", "leaseMillis").doesNotContain("releasedAt");
	}

	@Test
	void aLateRenewalNeverShortens() {
		LeaseKey key = acquired("stock");
		assertThat(this.locks.extend(key, Duration.ofHours(1), TIMEOUT)).isTrue();
		Document extended = stored("stock");
		assertThat(extended.getDate("expiresAt").toInstant())
			.isAfter(Instant.ofEpochMilli(serverTime()).plus(LEASE).plus(MARGIN));
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).isEmpty();
		assertThat(this.locks.extend(key, Duration.ofMillis(1), TIMEOUT)).isTrue();
		Document renewed = stored("stock");
		assertThat(renewed.getDate("expiresAt")).isEqualTo(extended.getDate("expiresAt"));
		assertThat(renewed.getDate("cleanUpAt")).isEqualTo(extended.getDate("cleanUpAt"));
		assertThat(renewed.getDate("updatedAt")).isAfterOrEqualTo(extended.getDate("updatedAt"));
		assertThat(renewed.getLong("leaseMillis")).isEqualTo(LEASE.toMillis());
	}

	@Test
	void anExpiredLeaseIsNeverRevived() {
		LeaseKey key = acquired("stock");
		expire("stock");
		Document expired = stored("stock");
		Map<LeaseKey, Optional<LockInfo>> gone = this.locks.renew(List.of(key), TIMEOUT);
		assertThat(gone).containsOnlyKeys(key);
		assertThat(gone.get(key)).get().satisfies((lock) -> {
			assertThat(lock.held()).isFalse();
			assertThat(lock.holder()).isEqualTo(key.holder());
			assertThat(lock.remaining()).isZero();
		});
		assertThat(this.locks.extend(key, LEASE, TIMEOUT)).isFalse();
		assertThat(stored("stock")).isEqualTo(expired);
	}

	@Test
	void anExpiredHoldersReleaseAndRenewalNeverTouchItsSuccessorsLock() {
		LeaseKey first = acquired("stock");
		expire("stock");
		LeaseKey second = acquired("stock");
		Document successors = stored("stock");
		assertThat(this.locks.renew(List.of(first), TIMEOUT).get(first)).get()
			.extracting(LockInfo::holder)
			.isEqualTo(second.holder());
		assertThat(this.locks.extend(first, LEASE, TIMEOUT)).isFalse();
		assertThat(this.locks.release(first, Duration.ZERO, TIMEOUT)).isFalse();
		assertThat(this.locks.release(first, Duration.ofSeconds(5), TIMEOUT)).isFalse();
		assertThat(stored("stock")).isEqualTo(successors);
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
	}

	@Test
	void releaseFreesTheNameAtOnceAndKeepsTheTokenAndTheCleanUp() {
		LeaseKey key = acquired("stock");
		Document held = stored("stock");
		assertThat(this.locks.release(key, Duration.ZERO, TIMEOUT)).isTrue();
		Document released = stored("stock");
		assertThat(released.keySet()).doesNotContain("holder", "expiresAt");
		assertThat(released.getDate("releasedAt")).isAfterOrEqualTo(held.getDate("acquiredAt"));
		assertThat(released.getLong("token")).isEqualTo(held.getLong("token"));
		assertThat(released.getDate("cleanUpAt")).isEqualTo(held.getDate("cleanUpAt"));
		assertThat(this.locks.find("stock")).get().satisfies((lock) -> {
			assertThat(lock.held()).isFalse();
			assertThat(lock.holder()).isNull();
			assertThat(lock.releasedAt()).isNotNull();
			assertThat(lock.remaining()).isZero();
		});
		assertThat(this.locks.release(key, Duration.ZERO, TIMEOUT)).isFalse();
		assertThat(stored("stock")).isEqualTo(released);
		acquired("stock");
		assertThat(stored("stock").keySet()).doesNotContain("releasedAt").contains("holder");
	}

	@Test
	void releaseByAnotherIdDoesNothing() {
		acquired("stock");
		Document held = stored("stock");
		assertThat(this.locks.release(key("stock"), Duration.ZERO, TIMEOUT)).isFalse();
		assertThat(this.locks.release(key("nothing"), Duration.ZERO, TIMEOUT)).isFalse();
		assertThat(stored("stock")).isEqualTo(held);
		assertThat(stored("nothing")).isNull();
	}

	@Test
	void aLeaseThatExpiredWithoutSuccessorIsReleasedById() {
		LeaseKey key = acquired("stock");
		expire("stock");
		assertThat(this.locks.release(key, Duration.ZERO, TIMEOUT)).isTrue();
		assertThat(granted("stock")).isNotNull();
		assertThat(stored("stock").getBoolean("fencePending")).isFalse();
	}

	@Test
	void theMinimumHoldKeepsTheNameTakenAfterTheRelease() {
		Duration minHold = Duration.ofMinutes(5);
		LeaseKey key = acquired("stock");
		long before = serverTime();
		assertThat(this.locks.release(key, minHold, TIMEOUT)).isTrue();
		Document released = stored("stock");
		assertThat(released).doesNotContainKey("holder");
		assertThat(released.getDate("releasedAt")).isAfterOrEqualTo(new Date(before));
		assertLasts(released, "releasedAt", before, minHold);
		LockInfo lock = ((Refused) acquire(key("stock"))).lock();
		assertThat(lock.held()).isFalse();
		assertThat(lock.holder()).isNull();
		assertThat(lock.remaining()).isBetween(Duration.ofMillis(1), minHold.plus(slack().multipliedBy(2)));
		expire("stock");
		granted("stock");
		assertThat(stored("stock").getBoolean("fencePending")).isFalse();
	}

	@Test
	void forceReleaseRemovesTheHolderAndLeavesTheExpiry() {
		LeaseKey key = acquired("stock");
		Document held = stored("stock");
		assertThat(this.locks.forceRelease("stock")).isTrue();
		Document forced = stored("stock");
		assertThat(forced).doesNotContainKey("holder").containsEntry("fencePending", true);
		assertThat(forced.getDate("expiresAt")).isEqualTo(held.getDate("expiresAt"));
		assertThat(this.locks.forceRelease("stock")).isFalse();
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).containsOnlyKeys(key);
		assertThat(this.locks.release(key, Duration.ZERO, TIMEOUT)).isFalse();
		assertThat(this.locks.forceRelease("nothing")).isFalse();
	}

	@Test
	void forceReleaseNowFreesTheName() {
		acquired("stock");
		assertThat(this.locks.forceReleaseNow("stock")).isTrue();
		assertThat(stored("stock")).doesNotContainKeys("holder", "expiresAt")
			.containsEntry("fencePending", true)
			.containsKey("releasedAt");
		assertThat(this.locks.forceReleaseNow("stock")).isFalse();
		assertThat(acquire(key("stock"))).isInstanceOf(Granted.class);
		assertThat(this.locks.forceReleaseNow("nothing")).isFalse();
	}

	@Test
	void forceReleaseNowEndsAMinimumHoldThatIsNotOver() {
		LeaseKey key = acquired("stock");
		this.locks.release(key, LEASE, TIMEOUT);
		assertThat(this.locks.forceReleaseNow("stock")).isTrue();
		assertThat(stored("stock")).doesNotContainKeys("expiresAt", "fencePending");
		this.locks.release(acquired("stock"), LEASE, TIMEOUT);
		expire("stock");
		assertThat(this.locks.forceReleaseNow("stock")).isFalse();
	}

	@Test
	void aTakeOverFromAHolderThatDidNotReleaseLeavesTheFencePending() {
		this.locks.release(acquired("stock"), Duration.ZERO, TIMEOUT);
		acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", false);
		expire("stock");
		LeaseKey second = acquired("stock");
		assertThat(stored("stock")).containsEntry("fencePending", true);
		this.locks.renew(List.of(second), TIMEOUT);
		this.locks.release(second, Duration.ZERO, TIMEOUT);
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
	void renewalTellsExactlyThoseThatAreGone() {
		List<LeaseKey> held = Stream.of("a", "b", "c").map(this::acquired).toList();
		LeaseKey expired = acquired("expired");
		expire("expired");
		LeaseKey overtaken = acquired("overtaken");
		expire("overtaken");
		LeaseKey successor = acquired("overtaken");
		LeaseKey deleted = acquired("deleted");
		this.documents.deleteOne(new Document("_id", "deleted"));
		LeaseKey released = acquired("released");
		this.locks.release(released, Duration.ZERO, TIMEOUT);
		List<LeaseKey> all = new ArrayList<>(held);
		all.addAll(List.of(expired, overtaken, deleted, released, successor));
		Map<LeaseKey, Optional<LockInfo>> gone = this.locks.renew(all, TIMEOUT);
		assertThat(gone).containsOnlyKeys(expired, overtaken, deleted, released);
		assertThat(gone.get(deleted)).isEmpty();
		assertThat(gone.get(overtaken)).get().extracting(LockInfo::holder).isEqualTo(successor.holder());
		assertThat(gone.get(released)).get().extracting(LockInfo::held).isEqualTo(false);
	}

	@Test
	void leasesOfDifferentLengthsAreRenewedEachByItsOwn() {
		LeaseKey longer = acquired("long");
		LeaseKey shorter = key("short");
		Duration half = LEASE.dividedBy(2);
		this.locks.acquire(request(shorter, half));
		Date soon = new Date(serverTime() + LEASE.toMillis() / 4);
		set("long", "expiresAt", soon);
		set("short", "expiresAt", soon);
		long before = serverTime();
		assertThat(this.locks.renew(List.of(longer, shorter, longer), TIMEOUT)).isEmpty();
		assertLasts(stored("long"), "updatedAt", before, LEASE.plus(MARGIN));
		assertLasts(stored("short"), "updatedAt", before, half.plus(ALLOWANCE).plus(half.dividedBy(1000)));
		assertThat(this.locks.renew(List.of(), TIMEOUT)).isEmpty();
	}

	@Test
	void aDocumentSpoiltByHandDoesNotKeepTheOthersFromBeingRenewed() {
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
	void whatEveryGrantWritesIsRefusedWhenItIsSpoiltByHandAlsoToTheHolder(String field) {
		LeaseKey key = acquired("stock");
		set("stock", field, 5.0);
		assertThatExceptionOfType(ForeignDocumentException.class).isThrownBy(() -> acquire(key));
		expire("stock");
		assertThatExceptionOfType(ForeignDocumentException.class).isThrownBy(() -> acquire(key("stock")));
		assertThat(stored("stock").get(field)).isEqualTo(5.0);
	}

	@Test
	void otherFieldsSpoiltByHandAreReadAsAbsent() {
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
	void aLeaseOfLessThanAMillisecondIsRoundedUp() {
		this.locks.acquire(request(key("stock"), Duration.ofNanos(1)));
		assertThat(stored("stock").getLong("leaseMillis")).isEqualTo(1);
	}

	@Test
	void listsByPrefixTakenLiterallyInTheOrderOfNames() {
		for (String name : List.of("a.b", "a.c", "a", "ab", "axb", "A.b", "a*", "\uD83D\uDD12x", "z")) {
			acquired(name);
		}
		this.documents.insertOne(new Document("_id", "a.foreign").append("x", 1));
		this.documents.insertOne(new Document("_id", 7).append("token", 1L));
		assertThat(this.locks.findAll("a.")).extracting(LockInfo::name).containsExactly("a.b", "a.c");
		assertThat(this.locks.findAll("a*")).extracting(LockInfo::name).containsExactly("a*");
		assertThat(this.locks.findAll("\uD83D\uDD12")).hasSize(1);
		assertThat(this.locks.findAll("zz")).isEmpty();
		assertThat(this.locks.findAll("")).hasSize(9).allMatch(LockInfo::held);
	}

	@Test
	void anUnknownNameIsNotFound() {
		assertThat(this.locks.find("nothing")).isEmpty();
		assertThat(this.documents.countDocuments()).isZero();
	}

	@Test
	void theIndexThatRemovesOldDocumentsIsCreatedAtFirstUseAndAgainAfterADrop() {
		acquired("stock");
		assertThat(cleanUpIndex()).isPresent();
		// Not earlier than a tenth of a second after it was created.
		Awaitility.await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(120)).until(() -> {
			this.documents.drop();
			acquired("stock");
			return cleanUpIndex().isPresent();
		});
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
