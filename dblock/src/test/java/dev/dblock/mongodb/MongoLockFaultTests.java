package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.dblock.core.JobRecords;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoNode;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.UncategorizedMongoDbException;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A replica set whose members, connections and answers fail.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
class MongoLockFaultTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private MongoReplicaSet server;

	private MongoDatabaseFactory factory;

	private MongoCollection<Document> documents;

	@BeforeEach
	void openStore(MongoReplicaSet server) {
		this.server = server;
		SimpleMongoClientDatabaseFactory factory = new SimpleMongoClientDatabaseFactory(server.client(),
				server.freshDatabase());
		// The write concern of the application is not enough for a lock.
		factory.setWriteConcern(WriteConcern.W1);
		this.factory = factory;
		this.documents = this.factory.getMongoDatabase().getCollection("locks");
	}

	private MongoLockRepository repository(StatementDialect dialect) {
		MongoLockRepository repository = new MongoLockRepository(this.factory,
				new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT, dialect, true));
		// The index, the dialect and the clock are there before anything fails.
		repository.acquire(request(key("warm up"), LEASE, TIMEOUT));
		return repository;
	}

	private static LeaseKey key(String name) {
		return LockRepositoryContract.key(name);
	}

	private static AcquireRequest request(LeaseKey key, Duration lease, Duration timeout) {
		return new AcquireRequest(key, lease, "host-1", "main", "a test", timeout);
	}

	private static AcquireAnswer acquire(MongoLockRepository locks, LeaseKey key) {
		return locks.acquire(request(key, LEASE, TIMEOUT));
	}

	private Document stored(String name) {
		return this.documents.find(new Document("_id", name)).first();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aThousandLeasesAreRenewedInTwoCommandsAndTenThousandInTen(StatementDialect dialect) {
		AtomicLong commands = new AtomicLong();
		// The server's clock is asked for when it must be, renewals or not.
		try (MongoClient client = client(ReadPreference.primary(),
				(event) -> commands.addAndGet(event.getCommandName().equals("hello") ? 0 : 1))) {
			this.factory = new SimpleMongoClientDatabaseFactory(client, this.server.freshDatabase());
			this.documents = this.factory.getMongoDatabase().getCollection("locks");
			renewThousands(repository(dialect), commands);
		}
	}

	private void renewThousands(MongoLockRepository locks, AtomicLong commands) {
		List<LeaseKey> leases = IntStream.range(0, 10_000).mapToObj((i) -> key("lease-" + i)).toList();
		Document held = stored("warm up");
		Date soon = new Date(System.currentTimeMillis() + LEASE.toMillis() / 2);
		this.documents.insertMany(leases.stream()
			.map((lease) -> new Document(held).append("_id", lease.name())
				.append("holder", lease.holder())
				.append("expiresAt", soon))
			.toList());
		long before = commands.get();
		assertThat(locks.renew(leases.subList(0, 1000), TIMEOUT)).isEmpty();
		long afterThousand = commands.get();
		assertThat(locks.renew(leases, Duration.ofSeconds(60))).isEmpty();
		long afterTenThousand = commands.get();
		assertThat(afterThousand - before).isBetween(1L, 2L);
		assertThat(afterTenThousand - afterThousand).isBetween(1L, 10L);
		assertThat(this.documents.countDocuments(new Document("expiresAt", new Document("$gt", soon))))
			.isEqualTo(10_001);
		this.documents.deleteOne(new Document("_id", "lease-77"));
		this.documents.updateOne(new Document("_id", "lease-5123"), new Document("$set", new Document("holder", "x")));
		long beforeTheLast = commands.get();
		assertThat(locks.renew(leases, Duration.ofSeconds(60))).containsOnlyKeys(leases.get(77), leases.get(5123));
		assertThat(commands.get() - beforeTheLast).isLessThanOrEqualTo(10);
	}

	private MongoClient client(ReadPreference preference, Consumer<CommandStartedEvent> beforeCommand) {
		return MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(this.server.uri()))
			.readPreference(preference)
			.addCommandListener(new CommandListener() {

				@Override
				public void commandStarted(CommandStartedEvent event) {
					beforeCommand.accept(event);
				}

			})
			.build());
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aWriteThatNoMajorityConfirmsIsAnErrorAndInDoubtNeverAGrant(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		LeaseKey key = key("stock");
		List<MongoNode> secondaries = this.server.nodes().stream().filter((node) -> !node.isPrimary()).toList();
		secondaries.forEach(MongoNode::pause);
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> locks.acquire(request(key, LEASE, Duration.ofMillis(900))))
			.withMessageContaining("'stock'")
			.withMessageContaining("'locks'");
		secondaries.forEach(MongoNode::resume);
		this.server.awaitAllSecondaries();
		// In doubt: if it was acquired, it is released by its id.
		boolean wasThere = locks.find("stock").isPresent();
		assertThat(locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT))
			.isEqualTo(wasThere && stored("stock") != null && stored("stock").get("releasedAt") != null);
		assertThat(acquire(locks, key("stock"))).isInstanceOf(Granted.class);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aMissedPlannedTimeIsRecordedOnlyWhenAMajorityHasIt(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		releasedJob(locks);
		this.server.failCommand(FailCommand.on("update").times(2).writeConcernError(100));
		JobRecords records = JobRecords.of(locks);
		JobFiring firing = missed();
		assertUnconfirmed(() -> records.expire(key("stock"), firing));
		assertUnconfirmed(() -> records.expire(key("stock"), firing));
		assertThat(records.expire(key("stock"), firing)).isPresent();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aMissedPlannedTimeThatIsRolledBackIsRecordedAgain(StatementDialect dialect) {
		AtomicBoolean rollBack = new AtomicBoolean();
		try (MongoClient client = clientWithRecordLostBeforeUpdate(rollBack)) {
			MongoLockRepository locks = repository(dialect);
			releasedJob(locks);
			JobRecords records = JobRecords.of(locks);
			JobFiring firing = missed();
			assertThat(records.expire(key("stock"), firing)).isPresent();
			rollBack.set(true);
			assertThat(records.expire(key("stock"), firing)).isPresent();
			assertThat(rollBack).isFalse();
			assertThat(stored("stock").getEmbedded(List.of("jobs", "held", "last", "firing"), String.class))
				.isEqualTo(firing.id());
		}
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aLastingRecordIsNotOneThatIsRolledBack(StatementDialect dialect) {
		AtomicBoolean rollBack = new AtomicBoolean();
		try (MongoClient client = clientWithRecordLostBeforeUpdate(rollBack)) {
			MongoLockRepository locks = repository(dialect);
			releasedJob(locks);
			JobRecords records = JobRecords.of(locks);
			records.expire(key("stock"), missed());
			Document before = stored("stock");
			assertThat(records.lasting(key("stock"), "held").runs()).hasSize(1);
			assertThat(stored("stock")).isEqualTo(before);
			rollBack.set(true);
			assertThat(records.lasting(key("stock"), "held").runs()).isEmpty();
			assertThat(rollBack).isFalse();
			this.server.failCommand(FailCommand.on("update").times(1).writeConcernError(100));
			assertUnconfirmed(() -> records.lasting(key("stock"), "held"));
		}
	}

	private MongoClient clientWithRecordLostBeforeUpdate(AtomicBoolean rollBack) {
		MongoClient client = client(ReadPreference.primary(), (event) -> {
			if (event.getCommandName().equals("update") && rollBack.compareAndSet(true, false)) {
				this.documents.updateOne(new Document("_id", "stock"),
						new Document("$unset", new Document("jobs", "")));
			}
		});
		this.factory = new SimpleMongoClientDatabaseFactory(client, this.factory.getMongoDatabase().getName());
		return client;
	}

	private static void releasedJob(MongoLockRepository locks) {
		LeaseKey key = key("stock");
		acquire(locks, key);
		assertThat(locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
	}

	private static JobFiring missed() {
		return JobFiring.of("held", new Schedule.Planned(Instant.EPOCH), false)
			.startWithin(Duration.ofSeconds(1), null);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void anUnmetWriteConcernIsAnErrorForEveryWrite(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		LeaseKey held = key("held");
		acquire(locks, held);
		this.server.failCommand(FailCommand.on("findAndModify", "update", "insert").writeConcernError(100));
		writes(locks, held).forEach(MongoLockFaultTests::assertUnconfirmed);
		this.server.failCommand(FailCommand.on("update")
			.forCollection(this.documents.getNamespace().getDatabaseName(), "locks.fences")
			.writeConcernError(100));
		overtakable("held");
		assertUnconfirmed(() -> acquire(locks, key("held")));
	}

	private static void assertUnconfirmed(ThrowingCallable write) {
		assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(write)
			.withMessageContaining("'held'")
			.withMessageContaining("may or may not have been done");
	}

	private void overtakable(String name) {
		this.documents.updateOne(new Document("_id", name),
				new Document("$set", new Document("expiresAt", new Date(0))));
	}

	private static List<ThrowingCallable> writes(MongoLockRepository locks, LeaseKey held) {
		return List.of(() -> locks.renew(List.of(held), TIMEOUT), () -> locks.extend(held, LEASE, TIMEOUT),
				() -> locks.extendExactly(held, LEASE, TIMEOUT),
				() -> locks.release(held, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT),
				() -> locks.forceReleaseNow("held"), () -> acquire(locks, key("held")));
	}

	@Test
	void theDriverDoesNotRepeatAnAcquireByPipeline() {
		MongoLockRepository locks = repository(StatementDialect.PIPELINE);
		this.server.failCommand(FailCommand.on("findAndModify").times(1).writeConcernError(91));
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> acquire(locks, key("stock")))
			.withMessageContaining("'stock'")
			.withMessageContaining("may or may not have been done");
		this.server.failCommand(FailCommand.on("findAndModify").times(1).closeConnection());
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> acquire(locks, key("stock")));
	}

	@Test
	void theDriversOwnRetryOfAClassicAcquireGetsTheStoredAnswer() {
		MongoLockRepository locks = repository(StatementDialect.CLASSIC);
		// Applied, and then answered with an error that makes the driver send it again.
		this.server.failCommand(FailCommand.on("findAndModify").times(1).writeConcernError(91));
		Granted granted = (Granted) acquire(locks, key("stock"));
		assertThat(granted.lastToken()).isEqualTo(stored("stock").getLong("token"));
		assertThat(granted.token()).isEqualTo(granted.lastToken() - 1023);
		assertThat(stored("stock").get("fencePending")).isNull();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aReleaseWhoseConnectionBreaksIsAnErrorAndCanBeRepeated(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		LeaseKey key = key("stock");
		acquire(locks, key);
		this.server.failCommand(FailCommand.on("update").times(1).closeConnection());
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT))
			.withMessageContaining("release the lock 'stock'");
		assertThat(locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aRenewalWhoseConnectionBreaksIsAnErrorAndCanBeRepeated(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		LeaseKey key = key("stock");
		acquire(locks, key);
		this.server.failCommand(FailCommand.on("update").times(1).closeConnection());
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> locks.renew(List.of(key), TIMEOUT))
			.withMessageContaining("renew the lock 'stock'");
		assertThat(locks.renew(List.of(key), TIMEOUT)).isEmpty();
		this.server.failCommand(FailCommand.on("update").times(1).errorCode(10107));
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> locks.renew(List.of(key, key("b")), TIMEOUT));
		assertThat(locks.renew(List.of(key), TIMEOUT)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aServerThatAnswersLateIsATimeoutWithinTheLimit(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		LeaseKey held = key("held");
		acquire(locks, held);
		Duration limit = Duration.ofMillis(300);
		// A caller that waited for it would have the answer, and no exception.
		this.server.failCommand(FailCommand.on("findAndModify", "update", "find").blockFor(Duration.ofSeconds(5)));
		for (ThrowingCallable request : List.<ThrowingCallable>of(() -> locks.renew(List.of(held), limit),
				() -> locks.extend(held, LEASE, limit), () -> locks.extendExactly(held, LEASE, limit),
				() -> locks.release(held, Duration.ZERO, FenceMark.KEEP, null, limit),
				() -> locks.acquire(request(key("new"), LEASE, limit)))) {
			assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(request)
				.withMessageContaining("the time limit of 300 ms ran out")
				.withMessageContaining("share of the time that dblock.mongodb.timeout, the wait and the lease allow");
		}
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aListThatFailsNamesTheLocks(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		this.server.failCommand(FailCommand.on("find", "aggregate").errorCode(13));
		assertThatThrownBy(() -> locks.findAll(ListRequest.all("")))
			.hasMessageStartingWith("Could not list the locks in the collection 'locks': MongoDB denied it");
		assertThatThrownBy(() -> locks.findAll(ListRequest.all("shop-")))
			.hasMessageStartingWith("Could not list the locks 'shop-...' in the collection 'locks': MongoDB denied it");
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aPrimaryThatHangsIsAnErrorWithinTheLimitAndTheNextPrimaryServes(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		LeaseKey held = key("held");
		locks.acquire(request(held, LEASE, TIMEOUT));
		MongoNode primary = this.server.primary();
		primary.pause();
		long start = System.nanoTime();
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> locks.renew(List.of(held), Duration.ofMillis(500)));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).as("a paused server answers never")
			.isLessThan(Duration.ofMinutes(1));
		this.server.awaitPrimary();
		Awaitility.await()
			.atMost(Duration.ofMinutes(3))
			.ignoreExceptionsInstanceOf(DataAccessException.class)
			.until(() -> locks.renew(List.of(held), Duration.ofSeconds(5)).isEmpty());
		assertThat(acquire(locks, key("held"))).isInstanceOf(AcquireAnswer.Refused.class);
		primary.resume();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aDeniedRequestNamesTheMissingPrivileges(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		this.server.failCommand(FailCommand.on("findAndModify", "update").errorCode(13));
		assertThatExceptionOfType(PermissionDeniedDataAccessException.class)
			.isThrownBy(() -> acquire(locks, key("stock")))
			.withMessageContaining("privileges")
			.withMessageContaining("'stock'");
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void anyOtherErrorOfTheServerIsThrownWithTheLocksName(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		this.server.failCommand(FailCommand.on("findAndModify", "insert").errorCode(8));
		assertThatExceptionOfType(UncategorizedMongoDbException.class).isThrownBy(() -> acquire(locks, key("stock")))
			.withMessageContaining("'stock'");
		assertThat(stored("warm up")).isNotNull();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void anInterruptedThreadGetsAnExceptionAndStaysInterrupted(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		Thread.currentThread().interrupt();
		try {
			assertThatExceptionOfType(RepositoryInterruptedException.class)
				.isThrownBy(() -> acquire(locks, key("stock")));
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		}
		finally {
			Thread.interrupted();
		}
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void noRequestJoinsTheTransactionOfTheCallingThread(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		MongoTemplate template = new MongoTemplate(this.factory);
		template.createCollection("orders");
		LeaseKey kept = key("kept");
		LeaseKey released = key("released");
		acquire(locks, released);
		new TransactionTemplate(new MongoTransactionManager(this.factory)).executeWithoutResult((status) -> {
			template.insert(new Document("_id", 1), "orders");
			assertThat(acquire(locks, kept)).isInstanceOf(Granted.class);
			assertThat(locks.renew(List.of(kept), TIMEOUT)).isEmpty();
			assertThat(locks.release(released, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
			assertThat(locks.find("kept")).isPresent();
			status.setRollbackOnly();
		});
		assertThat(template.findAll(Document.class, "orders")).isEmpty();
		assertThat(stored("kept")).containsEntry("holder", kept.holder());
		assertThat(stored("released").getDate("releasedAt")).isNotNull();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void aDelayedAcquireThatWasReleasedMeanwhileLeavesOneGrantAtMost(StatementDialect dialect) throws Exception {
		MongoLockRepository locks = repository(dialect);
		LeaseKey late = key("stock");
		this.server.failCommand(FailCommand.on("findAndModify").times(1).blockFor(Duration.ofMillis(700)));
		assertThatThrownBy(() -> locks.acquire(request(late, LEASE, Duration.ofMillis(250))))
			.isInstanceOf(QueryTimeoutException.class);
		locks.release(late, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		LeaseKey next = key("stock");
		assertThat(acquire(locks, next)).isInstanceOf(Granted.class);
		Awaitility.await()
			.during(Duration.ofMillis(900))
			.atMost(Duration.ofSeconds(60))
			.until(() -> next.holder().equals(stored("stock").getString("holder")));
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void locksOutliveTheirPrimary(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		List<LeaseKey> held = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			held.add(key("held-" + i));
			locks.acquire(request(held.get(i), LEASE, TIMEOUT));
		}
		this.server.stepDown(60);
		Awaitility.await()
			.atMost(3, TimeUnit.MINUTES)
			.ignoreExceptionsInstanceOf(DataAccessException.class)
			.until(() -> locks.renew(held, Duration.ofSeconds(5)).isEmpty());
		assertThat(acquire(locks, key("held-0"))).isInstanceOf(AcquireAnswer.Refused.class);
		assertThat(locks.release(held.get(0), Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThat(acquire(locks, key("held-0"))).isInstanceOf(Granted.class);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void everyRequestGoesToThePrimaryWhateverTheApplicationReadsFrom(StatementDialect dialect) {
		Set<String> asked = ConcurrentHashMap.newKeySet();
		try (MongoClient client = client(ReadPreference.secondary(), (event) -> asked
			.add(event.getCommandName() + "@" + event.getConnectionDescription().getServerAddress()))) {
			this.factory = new SimpleMongoClientDatabaseFactory(client, this.server.freshDatabase());
			MongoLockRepository locks = repository(dialect);
			assertThat(locks.find("warm up")).isPresent();
			assertThat(locks.findAll(ListRequest.all("warm")).locks()).hasSize(1);
			assertThat(locks.renew(List.of(key("gone")), TIMEOUT)).hasSize(1);
		}
		assertThat(asked).anyMatch((command) -> command.startsWith("find@"))
			.filteredOn((command) -> !command.startsWith("endSessions"))
			.allMatch((command) -> command.endsWith("@" + this.server.primary().address()));
	}

}
