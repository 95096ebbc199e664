package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import com.mongodb.client.MongoDatabase;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.job.mongodb.JobStatements;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tokens of instances that know the server's clock unequally well, over a deleted
 * document. All of them and the server share one time, which a slow instance moves on
 * while it asks.
 */
@MongoServerTest(kind = MongoServerKind.STANDALONE)
class ClassicTokenTests {

	private static final long LATE = 300;

	private final AtomicLong moved = new AtomicLong();

	private final HelloCommand hello = new HelloCommand();

	private MongoDatabase database;

	private StoreRequest store;

	@BeforeEach
	void openStore(MongoServer server) {
		this.database = server.client().getDatabase(server.freshDatabase());
		this.store = store(Duration.ofSeconds(60));
	}

	private StoreRequest store(Duration timeout) {
		return new StoreRequest(this.database, new LockCollection("locks"), timeout);
	}

	private ServerClock clock(long beforeTheAnswer, long afterTheAnswer) {
		return new ServerClock(() -> System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(this.moved.get()),
				() -> System.currentTimeMillis() + this.moved.get(), () -> "", (store) -> {
					this.moved.addAndGet(beforeTheAnswer);
					BsonDocument answer = serverTime(store);
					this.moved.addAndGet(afterTheAnswer);
					return answer;
				});
	}

	private BsonDocument serverTime(StoreRequest store) {
		BsonDocument answer = this.hello.say(store);
		long time = answer.getDateTime("localTime").getValue() + this.moved.get();
		return answer.append("localTime", new BsonDateTime(time));
	}

	private static ClassicStatements instance(ServerClock clock) {
		return new ClassicStatements(new LeaseTimes(500, 86_400_000), clock, new JobStatements());
	}

	private Granted acquire(ClassicStatements instance, StoreRequest store) {
		LeaseKey key = LockRepositoryContract.key("stock");
		AcquireRequest request = LockRepositoryContract.request(key, Duration.ofMinutes(10));
		Granted granted = (Granted) instance.acquire(store, request).answer();
		assertThat(instance.release(store, key, Duration.ZERO, FenceMark.KEEP, null)).isTrue();
		return granted;
	}

	private void delete() {
		this.database.getCollection("locks").deleteOne(new Document("_id", "stock"));
	}

	@Test
	void theTokenRisesWhereTheNextInstanceReadsTheClockTooEarly() {
		ServerClock late = clock(0, LATE);
		ServerClock.Reading reading = late.read(this.store);
		assertThat(reading.notAfter() - reading.notBefore()).isGreaterThanOrEqualTo(LATE);
		Granted first = acquire(instance(clock(0, 0)), this.store);
		delete();
		Granted second = acquire(instance(late), this.store);
		assertThat(second.token()).isGreaterThan(first.lastToken());
	}

	@Test
	void theTokenRisesWhereTheLastInstanceReadTheClockTooLate() {
		Granted first = acquire(instance(clock(LATE, 0)), this.store);
		delete();
		Granted second = acquire(instance(clock(0, 0)), this.store);
		assertThat(second.token()).isGreaterThan(first.lastToken());
	}

	@Test
	void theTokenRisesWhereAnInstanceDiedBetweenCreatingTheDocumentAndTakingIt() {
		ServerClock late = clock(0, LATE);
		late.read(this.store);
		Granted first = acquire(instance(clock(0, 0)), this.store);
		delete();
		this.database.getCollection("locks").insertOne(new Document("_id", "stock"));
		assertThat(acquire(instance(late), this.store).token()).isGreaterThan(first.lastToken());
	}

	@Test
	void aNewDocumentsTokenIsReportedOnceTheServersClockHasPassedIt() {
		Granted granted = acquire(instance(clock(0, 0)), this.store);
		assertThat(granted.token() / LockDocument.TOKENS_PER_MILLI)
			.isLessThanOrEqualTo(serverTime(this.store).getDateTime("localTime").getValue());
	}

	@Test
	void aClockThatDoesNotMoveOnIsATimeoutAndNoGrant() {
		BsonDocument standing = serverTime(this.store);
		ServerClock clock = new ServerClock(() -> 0, () -> 0, () -> "", (store) -> standing);
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> acquire(instance(clock), store(Duration.ofSeconds(2))))
			.withMessageContaining("'stock'");
	}

}
