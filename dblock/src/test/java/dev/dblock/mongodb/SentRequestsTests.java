package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.dblock.core.JobRecords;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob.RunEnd;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.AcquireAnswer.Refused;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The options of each request.
 */
@OnEachServer
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
class SentRequestsTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private static final List<String> REQUESTS = List.of("find", "findAndModify", "getMore", "insert", "update");

	private static final LeaseKey KEY = LockRepositoryContract.key("a");

	private final List<BsonDocument> sent = new CopyOnWriteArrayList<>();

	private MongoClient client;

	private SimpleMongoClientDatabaseFactory factory;

	@BeforeEach
	void open(MongoReplicaSet server) {
		this.client = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(server.uri()))
			.addCommandListener(new CommandListener() {

				@Override
				public void commandStarted(CommandStartedEvent event) {
					// An index may still be under way
					if (REQUESTS.contains(event.getCommandName())) {
						SentRequestsTests.this.sent.add(BsonDocument.parse(event.getCommand().toJson()));
					}
				}

			})
			.build());
		this.factory = new SimpleMongoClientDatabaseFactory(this.client, server.freshDatabase());
		// The write concern of the application is not enough for a lock.
		this.factory.setWriteConcern(WriteConcern.W1);
	}

	@AfterEach
	void close() {
		this.client.close();
	}

	private MongoLockRepository repository(StatementDialect dialect) {
		MongoLockRepository locks = new MongoLockRepository(this.factory,
				new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT, dialect, true));
		assertThat(acquire(locks, LockRepositoryContract.key("warm up"))).isTrue();
		this.sent.clear();
		return locks;
	}

	private static boolean acquire(MongoLockRepository locks, LeaseKey key) {
		return locks.acquire(new AcquireRequest(key, LEASE, "host-1", "main", "a test", TIMEOUT)) instanceof Granted;
	}

	private List<BsonDocument> writes() {
		return this.sent.stream().filter((command) -> !command.containsKey("find")).toList();
	}

	private void assertEachHasALimit() {
		assertThat(this.sent).isNotEmpty()
			.allSatisfy((command) -> assertThat(command.getNumber("maxTimeMS").longValue()).isBetween(1L,
					TIMEOUT.toMillis()));
	}

	private void assertEachWriteAsksForAMajority() {
		assertThat(writes()).hasSizeGreaterThanOrEqualTo(6)
			.allSatisfy((command) -> assertThat(command.getDocument("writeConcern").getString("w").getValue())
				.isEqualTo("majority"));
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void everyWriteAsksForAMajorityWithinItsLimit(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		assertThat(acquire(locks, KEY)).isTrue();
		assertThat(locks.renew(List.of(KEY), TIMEOUT)).isEmpty();
		assertThat(locks.extend(KEY, LEASE.multipliedBy(2), TIMEOUT)).isTrue();
		assertThat(locks.release(KEY, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThat(acquire(locks, KEY)).isTrue();
		assertThat(locks.release(KEY, LEASE, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertEachWriteAsksForAMajority();
		assertEachHasALimit();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void everyReadHasALimit(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		locks.find("warm up", TIMEOUT);
		assertEachHasALimit();
	}

	/**
	 * For a write that the driver repeats, the servers keep a record of their own.
	 */
	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void frequentRequestsLeaveNoRecordForARepetition(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		boolean repeated = dialect == StatementDialect.CLASSIC;
		assertThat(acquire(locks, KEY)).isTrue();
		assertThat(writes()).isNotEmpty()
			.allSatisfy((command) -> assertThat(command.containsKey("txnNumber")).isEqualTo(repeated));
		this.sent.clear();
		assertThat(locks.renew(List.of(KEY), TIMEOUT)).isEmpty();
		assertThat(locks.release(KEY, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThat(writes()).hasSizeGreaterThanOrEqualTo(2)
			.noneSatisfy((command) -> assertThat(command).containsKey("txnNumber"));
	}

	@Test
	void aPlainLockTakesOneRequestForEachStep() {
		MongoLockRepository locks = repository(StatementDialect.PIPELINE);
		for (int i = 0; i < 2; i++) {
			LeaseKey key = LockRepositoryContract.key("a");
			assertThat(acquire(locks, key)).isTrue();
			assertThat(acquire(locks, LockRepositoryContract.key("a"))).isFalse();
			assertThat(locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		}
		assertThat(this.sent).extracting(BsonDocument::getFirstKey)
			.containsExactly("findAndModify", "findAndModify", "update", "findAndModify", "findAndModify", "update");
	}

	@Test
	void aStoredPermitThatIsFreeTakesOneRequest() {
		MongoLockRepository locks = repository(StatementDialect.PIPELINE);
		for (String holder : List.of("first", "second", "third")) {
			assertThat(acquire(locks, LeaseKey.of("a", holder, 3))).isTrue();
		}
		// Not found, then read, then created
		assertThat(this.sent).extracting(BsonDocument::getFirstKey)
			.hasSize(9)
			.startsWith("findAndModify", "find", "findAndModify");
		locks.release(LeaseKey.of("a", "third", 3), Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		this.sent.clear();
		LeaseKey key = LeaseKey.of("a", "fourth", 3);
		assertThat(acquire(locks, key)).isTrue();
		assertThat(this.sent).extracting(BsonDocument::getFirstKey).containsExactly("findAndModify");
		assertThat(acquire(locks, LeaseKey.of("a", "refused", 3))).isFalse();
		assertThat(locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThat(this.sent).extracting(BsonDocument::getFirstKey)
			.containsExactly("findAndModify", "findAndModify", "find", "update");
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void theRecordsOfManyLocksTakeOneRequest(StatementDialect dialect) {
		MongoLockRepository locks = repository(dialect);
		// More than the driver's first batch
		Map<String, String> ids = IntStream.rangeClosed(1, 110)
			.mapToObj((number) -> "a (shard " + number + ")")
			.collect(Collectors.toMap((name) -> name, (name) -> name));
		ids.keySet().forEach((name) -> assertThat(acquire(locks, LockRepositoryContract.key(name))).isTrue());
		this.sent.clear();
		assertThat(JobRecords.of(locks).findAll(ids)).hasSize(110);
		assertThat(this.sent).extracting(BsonDocument::getFirstKey).containsExactly("find");
		assertEachHasALimit();
		this.sent.clear();
		assertThat(JobRecords.of(locks).findAll(Map.of())).isEmpty();
		assertThat(this.sent).isEmpty();
	}

	@Test
	void onlyTheFirstRunAndOneAfterALossTakeTwoRequests() {
		MongoLockRepository locks = repository(StatementDialect.PIPELINE);
		Instant at = Instant.now().minusSeconds(60);
		runInRequests(locks, at, JobRun.Outcome.SUCCEEDED, 2);
		runInRequests(locks, at.plusSeconds(1), JobRun.Outcome.FAILED, 1);
		runInRequests(locks, at.plusSeconds(2), JobRun.Outcome.LOST, 1);
		runInRequests(locks, at.plusSeconds(3), JobRun.Outcome.SUCCEEDED, 2);
	}

	@Test
	void aRunAfterAMinimumHoldTakesOneRequest() {
		MongoLockRepository locks = repository(StatementDialect.PIPELINE);
		Instant at = Instant.now().minusSeconds(60);
		runInRequests(locks, at, JobRun.Outcome.SUCCEEDED, 2);
		this.factory.getMongoDatabase()
			.getCollection("locks")
			.updateOne(Filters.eq("a"), Updates.set("expiresAt", Date.from(at)));
		this.sent.clear();
		runInRequests(locks, at.plusSeconds(1), JobRun.Outcome.SUCCEEDED, 1);
	}

	/**
	 * Run a job, and request the same planned time once more.
	 */
	private void runInRequests(MongoLockRepository locks, Instant at, JobRun.Outcome outcome, int requests) {
		LeaseKey run = LockRepositoryContract.key("a");
		assertThat(fire(locks, run, at)).isInstanceOf(Granted.class);
		assertThat(this.sent).extracting(BsonDocument::getFirstKey).hasSize(requests).containsOnly("findAndModify");
		locks.release(run, Duration.ZERO, FenceMark.KEEP, new RunEnd("a", outcome, null), TIMEOUT);
		this.sent.clear();
		assertThat(fire(locks, LockRepositoryContract.key("a"), at)).isInstanceOf(Refused.class);
		assertThat(this.sent).extracting(BsonDocument::getFirstKey).containsExactly("findAndModify");
		this.sent.clear();
	}

	private static AcquireAnswer fire(MongoLockRepository locks, LeaseKey key, Instant at) {
		JobFiring firing = JobFiring.of("a", new Schedule.Planned(at), false);
		return locks.acquire(new AcquireRequest(key, LEASE, "host-1", "main", "a test", TIMEOUT).withClaim(firing));
	}

}
