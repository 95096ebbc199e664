package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import com.mongodb.MongoCommandException;
import com.mongodb.ServerAddress;
import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Updates;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.mongodb.request.LockDocument;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.ReleaseFeed;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

@OnEachServer
@Timeout(300)
class ChangeStreamReaderTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final RecordingReleaseListener listener = new RecordingReleaseListener();

	private ChangeStreamReader reader;

	@AfterEach
	void stop() {
		this.reader.stop(Duration.ofSeconds(60));
		assertThat(this.reader.isReading()).isFalse();
		assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName).doesNotContain("dblock-feed");
	}

	@Test
	void noErrorOfAnySourceEndsTheThread() {
		AtomicInteger openings = new AtomicInteger();
		this.listener.onInterruption = (reason) -> {
			throw new AssertionError("scripted: listener " + reason);
		};
		read(() -> {
			openings.incrementAndGet();
			throw new OutOfMemoryError("scripted");
		});
		eventually(() -> assertThat(openings).hasValueGreaterThan(2));
		assertThat(this.reader.isReading()).isTrue();
		assertThat(this.listener.news).contains("interrupted scripted");
	}

	@Test
	void anErrorInTheReportOfMissingStreamsDoesNotStopIt() {
		AtomicInteger openings = new AtomicInteger();
		this.listener.onUnsupported = (reason) -> {
			if (openings.get() == 1) {
				throw new StackOverflowError("scripted");
			}
		};
		read(() -> {
			openings.incrementAndGet();
			throw new MongoCommandException(new BsonDocument("code", new BsonInt32(115)), new ServerAddress());
		});
		eventually(() -> assertThat(this.listener.news).contains("unsupported"));
		eventually(() -> assertThat(this.reader.isReading()).isFalse());
		assertThat(openings).hasValue(2);
	}

	@Test
	void missingStreamsAreReportedWithTheAnswerOfTheServer() {
		assertUnsupported("{ok: 0, code: 115, codeName: 'CommandNotSupported', errmsg: 'no'}",
				"the server offers no change streams here (115 CommandNotSupported: no)");
	}

	@Test
	void missingStreamsAreReportedWithoutAnAnswerThatHasNoCode() {
		assertUnsupported("{ok: 0, errmsg: 'Unknown error: null'}", "the server offers no change streams here");
	}

	@Test
	void rightThatAtlasDeniesIsNotTakenForAnOutage() {
		assertUnsupported("{ok: 0, code: 8000, codeName: 'AtlasError', errmsg: 'user is not allowed to do action'}",
				"the server offers no change streams here (8000 AtlasError: user is not allowed to do action)");
	}

	private void assertUnsupported(String answer, String reason) {
		List<String> reasons = new CopyOnWriteArrayList<>();
		this.listener.onUnsupported = reasons::add;
		read(() -> {
			throw new MongoCommandException(BsonDocument.parse(answer), new ServerAddress());
		});
		eventually(() -> assertThat(reasons).containsExactly(reason));
	}

	@Test
	void aFailureWithoutAMessageIsReportedByItsType() {
		read(() -> {
			throw new IllegalStateException();
		});
		eventually(() -> assertThat(this.listener.news).contains("interrupted IllegalStateException"));
	}

	@Test
	void anInterruptFromElsewhereNeitherEndsTheThreadNorKeepsItBusy() {
		AtomicInteger openings = new AtomicInteger();
		this.listener.onInterruption = (reason) -> {
			Thread.currentThread().interrupt();
			throw new AssertionError("scripted");
		};
		read(() -> {
			openings.incrementAndGet();
			throw new IllegalStateException("scripted");
		});
		eventually(() -> assertThat(openings).hasValueGreaterThan(3));
		assertThat(this.reader.isReading()).isTrue();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void releasesAreReportedAfterErrorsOfTheListener(MongoServer server) {
		MongoCollection<BsonDocument> locks = collection(server);
		AtomicInteger errors = new AtomicInteger();
		this.listener.onListening = () -> {
			if (errors.getAndIncrement() == 0) {
				throw new OutOfMemoryError("scripted");
			}
		};
		this.listener.onInterruption = (reason) -> {
			throw new OutOfMemoryError("scripted too");
		};
		readReleases(locks);
		BsonDocument key = document("stock");
		locks.insertOne(key);
		locks.deleteOne(key);
		eventually(() -> assertThat(this.listener.news).contains("released stock"));
	}

	/**
	 * Covers the rest of the answer that was being read, and releases that are not being
	 * read at the time: a stream that began when it was opened again would show neither.
	 */
	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aReleaseBeforeTheStreamIsReopenedIsReported(MongoServer server) {
		MongoCollection<BsonDocument> locks = collection(server);
		locks.insertMany(List.of(document("stock"), document("order"), document("invoice")));
		AtomicBoolean first = new AtomicBoolean(true);
		this.listener.onListening = () -> {
			if (first.getAndSet(false)) {
				release(locks, "stock");
				release(locks, "order");
			}
		};
		this.listener.onRelease = (name) -> {
			if (name.equals("stock")) {
				throw new IllegalStateException("scripted");
			}
		};
		this.listener.onInterruption = (reason) -> release(locks, "invoice");
		readReleases(locks);
		eventually(() -> assertThat(this.listener.news).contains("released invoice"));
		assertThat(this.listener.news).containsExactly("listening", "released stock", "interrupted scripted",
				"listening", "released order", "released invoice");
	}

	@ParameterizedTest
	@EnumSource(names = { "PIPELINE", "CLASSIC" })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void onlyReleasesAreReported(StatementDialect dialect, MongoServer server) {
		MongoCollection<BsonDocument> documents = collection(server);
		MongoLockRepository locks = new MongoLockRepository(
				new SimpleMongoClientDatabaseFactory(server.client(), documents.getNamespace().getDatabaseName()),
				new MongoLockSettings(documents.getNamespace().getCollectionName(), Duration.ofMillis(500),
						Duration.ofDays(1), TIMEOUT, dialect, true));
		LeaseKey stock = acquire(locks, "stock");
		locks.release(acquire(locks, "other"), Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		readReleases(documents);
		LeaseKey other = acquire(locks, "other");
		LeaseKey created = acquire(locks, "new");
		assertThat(locks.renew(List.of(stock, other, created), TIMEOUT)).isEmpty();
		assertThat(locks.extend(other, LEASE.multipliedBy(2), TIMEOUT)).isTrue();
		assertThat(locks.release(stock, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThat(locks.release(other, Duration.ofSeconds(1), FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThat(locks.forceReleaseNow("new")).isTrue();
		eventually(() -> assertThat(this.listener.news).contains("released new"));
		assertThat(this.listener.news).containsExactly("listening", "released stock", "released other", "released new");
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aReplacedDocumentIsReportedIfItIsReleased(MongoServer server) {
		MongoCollection<BsonDocument> locks = collection(server);
		locks.insertMany(List.of(document("stock"), document("other")));
		readReleases(locks);
		locks.replaceOne(document("other"), document("other").append(LockDocument.TOKEN, new BsonInt64(1)));
		locks.replaceOne(document("stock"), document("stock").append(LockDocument.RELEASED_AT, new BsonDateTime(1)));
		eventually(() -> assertThat(this.listener.news).contains("released stock"));
		assertThat(this.listener.news).containsExactly("listening", "released stock");
	}

	private static LeaseKey acquire(MongoLockRepository locks, String name) {
		LeaseKey key = LockRepositoryContract.key(name);
		assertThat(locks.acquire(LockRepositoryContract.request(key, LEASE))).isInstanceOf(AcquireAnswer.Granted.class);
		return key;
	}

	private static void release(MongoCollection<BsonDocument> locks, String name) {
		locks.updateOne(document(name), Updates.currentDate(LockDocument.RELEASED_AT));
	}

	private static BsonDocument document(String name) {
		return new BsonDocument(LockDocument.ID, new BsonString(name));
	}

	private static MongoCollection<BsonDocument> collection(MongoServer server) {
		return server.client().getDatabase(server.freshDatabase()).getCollection("locks", BsonDocument.class);
	}

	private void readReleases(MongoCollection<BsonDocument> locks) {
		read(() -> locks.watch(ReleaseEvents.PIPELINE));
		eventually(() -> assertThat(this.listener.news).contains("listening"));
	}

	private void read(Supplier<ChangeStreamIterable<BsonDocument>> streams) {
		this.reader = new ChangeStreamReader(streams, (cursor) -> {
		}, this.listener);
		this.reader.start();
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	private static final class RecordingReleaseListener implements ReleaseFeed.Listener {

		private final List<String> news = new CopyOnWriteArrayList<>();

		private volatile Runnable onListening = () -> {
		};

		private volatile Consumer<String> onRelease = (name) -> {
		};

		private volatile Consumer<String> onInterruption = (reason) -> {
		};

		private volatile Consumer<String> onUnsupported = (reason) -> {
		};

		@Override
		public void listening() {
			this.onListening.run();
			this.news.add("listening");
		}

		@Override
		public void released(String name) {
			this.news.add("released " + name);
			this.onRelease.accept(name);
		}

		@Override
		public void interrupted(String reason) {
			this.news.add("interrupted " + reason);
			this.onInterruption.accept(reason);
		}

		@Override
		public void unsupported(String reason) {
			this.onUnsupported.accept(reason);
			this.news.add("unsupported");
		}

	}

}
