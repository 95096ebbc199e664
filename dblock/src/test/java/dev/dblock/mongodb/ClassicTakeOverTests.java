package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandSucceededEvent;
import dev.dblock.ForeignDocumentException;
import dev.dblock.core.JobRecords;
import dev.dblock.claim.Claim;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AcquireAnswer.Refused;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Changes by others between the read and the write of a classic acquire, and between its
 * writes; and between the read and the write of a forced release.
 */
@MongoServerTest(kind = MongoServerKind.STANDALONE)
class ClassicTakeOverTests implements CommandListener {

	private final AtomicBoolean looked = new AtomicBoolean();

	private MongoClient watched;

	private MongoCollection<Document> documents;

	private MongoLockRepository locks;

	private Runnable afterTheLook;

	private Runnable afterTheTake = () -> {
	};

	private Runnable afterAnUpdate = () -> {
	};

	private final AtomicLong pausedMillis = new AtomicLong();

	@BeforeEach
	void openStore(MongoServer server) {
		String database = server.freshDatabase();
		this.documents = server.client().getDatabase(database).getCollection("locks");
		this.watched = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(server.uri()))
			.addCommandListener(this)
			.build());
		this.locks = new MongoLockRepository(new SimpleMongoClientDatabaseFactory(this.watched, database),
				new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), Duration.ofSeconds(60),
						StatementDialect.CLASSIC, true),
				() -> System.nanoTime() - Duration.ofMillis(this.pausedMillis.get()).toNanos(),
				() -> System.currentTimeMillis() - this.pausedMillis.get());
	}

	@AfterEach
	void closeClient() {
		this.watched.close();
	}

	@Override
	public void commandSucceeded(CommandSucceededEvent event) {
		if (event.getCommandName().equals("find") && this.afterTheLook != null
				&& this.looked.compareAndSet(false, true)) {
			this.afterTheLook.run();
		}
		if (event.getCommandName().equals("findAndModify")) {
			this.afterTheTake.run();
		}
		if (event.getCommandName().equals("update")) {
			this.afterAnUpdate.run();
		}
	}

	@Test
	void endOfARunIsRecordedThoughItsGrantIsDelayedIntoTheRelease() {
		LeaseKey key = LockRepositoryContract.key("stock");
		JobFiring firing = JobFiring.of("nightly", new Schedule.Planned(Instant.EPOCH), true);
		AtomicBoolean arrived = new AtomicBoolean();
		this.afterAnUpdate = () -> {
			if (arrived.compareAndSet(false, true)) {
				AcquireRequest delayed = LockRepositoryContract.request(key, Duration.ofMinutes(10)).withClaim(firing);
				assertThat(this.locks.acquire(delayed)).isInstanceOf(AcquireAnswer.Granted.class);
			}
		};
		assertThat(releaseAbandoned(key, firing)).as("the acquisition that was not yet granted").isFalse();
		assertThat(arrived).isTrue();
		assertThat(releaseAbandoned(key, firing)).isTrue();
		assertThat(
				this.documents.find().first().getEmbedded(List.of("jobs", "nightly", "last", "outcome"), String.class))
			.isEqualTo("ABANDONED");
	}

	private boolean releaseAbandoned(LeaseKey key, JobFiring firing) {
		return this.locks.release(key, Duration.ZERO, FenceMark.KEEP, firing.end(key.name(), Claim.How.ABANDONED, null),
				Duration.ofSeconds(60));
	}

	private AcquireAnswer acquire() {
		return this.locks
			.acquire(LockRepositoryContract.request(LockRepositoryContract.key("stock"), Duration.ofMinutes(10)));
	}

	@Test
	void aJobThatIsPausedMeanwhileIsNotRun() {
		JobFiring firing = JobFiring.of("nightly", new Schedule.Planned(Instant.EPOCH), false);
		AcquireRequest request = LockRepositoryContract
			.request(LockRepositoryContract.key("stock"), Duration.ofMinutes(10))
			.withClaim(firing);
		acquire();
		this.locks.forceReleaseNow("stock");
		this.looked.set(false);
		this.afterTheLook = () -> JobRecords.of(this.locks).pause("stock", "nightly", "ann");
		AcquireAnswer answer = this.locks.acquire(request);
		assertThat(this.looked).isTrue();
		assertThat(answer).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(((JobRefusal) refused.verdict()).reason()).isEqualTo(JobRefusal.Reason.PAUSED));
		JobRecords.of(this.locks).resume("stock", "nightly");
		assertThat(this.locks.acquire(request)).isInstanceOf(AcquireAnswer.Granted.class);
	}

	@Test
	void aPlannedTimeThatIsRecordedAsMissedMeanwhileIsNotRun() {
		JobFiring firing = JobFiring.of("nightly", new Schedule.Planned(Instant.EPOCH), false);
		JobFiring late = firing.withNewId().startWithin(Duration.ofSeconds(1), null);
		acquire();
		this.locks.forceReleaseNow("stock");
		this.looked.set(false);
		this.afterTheLook = () -> assertThat(
				JobRecords.of(this.locks).expire(LockRepositoryContract.key("stock"), late))
			.isPresent();
		AcquireAnswer answer = this.locks
			.acquire(LockRepositoryContract.request(LockRepositoryContract.key("stock"), Duration.ofMinutes(10))
				.withClaim(firing));
		assertThat(this.looked).isTrue();
		assertThat(answer).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(((JobRefusal) refused.verdict()).reason()).isEqualTo(JobRefusal.Reason.DONE));
	}

	@Test
	void aForcedReleaseEndsTheRunThatHasTheLockWhenItIsWritten() {
		acquire();
		Document run = new Document("planned", new Date(1000)).append("attempt", 1).append("holder", "next");
		this.afterTheLook = () -> change(new Document("holder", "next").append("jobs.nightly.last", run));
		assertThat(this.locks.forceReleaseNow("stock")).isTrue();
		Document stored = this.documents.find().first();
		assertThat(stored).doesNotContainKeys("holder", "expiresAt");
		assertThat(stored.getEmbedded(List.of("jobs", "nightly", "last", "outcome"), String.class)).isEqualTo("FAILED");
		this.looked.set(false);
		this.afterTheLook = null;
		acquire();
		this.afterTheLook = () -> this.documents.updateOne(new Document("_id", "stock"),
				new Document("$unset", new Document("holder", "")));
		assertThat(this.locks.forceRelease("stock")).as("released meanwhile").isFalse();
	}

	private void change(Document fields) {
		this.documents.updateOne(new Document("_id", "stock"), new Document("$set", fields));
	}

	static Stream<Document> changes() {
		Date later = new Date(System.currentTimeMillis() + 600_000);
		Date expired = new Date(1000);
		return Stream.of(new Document("expiresAt", later), new Document("expiresAt", later).append("holder", "other"),
				new Document("token", 5000L).append("expiresAt", later),
				new Document("holder", "other").append("expiresAt", expired),
				new Document("token", 1L << 60).append("expiresAt", expired));
	}

	@ParameterizedTest
	@MethodSource("changes")
	void aTakeOverSwapsOnWhatItHasRead(Document change) {
		Date expired = new Date(1000);
		this.documents.insertOne(new Document("_id", "stock").append("holder", "first")
			.append("token", 1023L)
			.append("leaseMillis", 30_000L)
			.append("acquiredAt", new Date(0))
			.append("expiresAt", expired));
		this.afterTheLook = () -> change(change);
		AcquireAnswer answer = acquire();
		assertThat(this.looked).isTrue();
		if (change.getDate("expiresAt").equals(expired)) {
			AcquireAnswer.Granted granted = (AcquireAnswer.Granted) answer;
			assertThat(granted.token()).isGreaterThan(change.get("token", 0L));
		}
		else {
			assertThat(answer).isInstanceOf(Refused.class);
			assertThat(this.documents.find().first()).containsAllEntriesOf(change);
		}
	}

	@Test
	void aDocumentThatAppearsWhileTheNameIsBeingCreatedIsNotTaken() {
		Document foreign = new Document("_id", "stock").append("order", 7);
		this.afterTheLook = () -> this.documents.insertOne(foreign);
		assertThatExceptionOfType(ForeignDocumentException.class).isThrownBy(this::acquire);
		assertThat(this.documents.find().first()).isEqualTo(foreign);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aGrantThatEndsTooEarlyIsNoneOnceAnotherHasOvertakenIt(boolean ofJob) {
		this.locks.acquire(LockRepositoryContract.request(LockRepositoryContract.key("stock"), Duration.ofMillis(1)));
		change(new Document("expiresAt", new Date(1000)));
		this.pausedMillis.set(Duration.ofHours(1).toMillis());
		Date later = new Date(System.currentTimeMillis() + 600_000);
		Document successors = new Document("holder", "other").append("token", 1L << 61).append("expiresAt", later);
		this.afterTheTake = () -> change(successors);
		if (ofJob) {
			JobFiring firing = JobFiring.of("nightly", new Schedule.Planned(Instant.EPOCH), true);
			AcquireRequest request = LockRepositoryContract
				.request(LockRepositoryContract.key("stock"), Duration.ofMinutes(10))
				.withClaim(firing);
			assertThatExceptionOfType(QueryTimeoutException.class).as("the record has changed")
				.isThrownBy(() -> this.locks.acquire(request));
		}
		else {
			assertThat(acquire()).isInstanceOf(Refused.class);
		}
		assertThat(this.documents.find().first()).containsAllEntriesOf(successors);
	}

	@Test
	void aRenewalIsNotAppliedToALeaseThatWasTakenOverMeanwhile() {
		LeaseKey key = LockRepositoryContract.key("stock");
		this.locks.acquire(LockRepositoryContract.request(key, Duration.ofMinutes(10)));
		this.looked.set(false);
		this.afterTheLook = () -> change(new Document("holder", "other"));
		Document before = this.documents.find().first();
		assertThat(this.locks.renew(List.of(key), Duration.ofSeconds(60))).containsOnlyKeys(key);
		assertThat(this.documents.find().first()).isEqualTo(before.append("holder", "other"));
	}

}
