package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import com.mongodb.MongoCommandException;
import com.mongodb.ServerAddress;
import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoCollection;
import dev.dblock.core.ReleaseListener;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(300)
class ChangeStreamReaderTests {

	private final Told told = new Told();

	private ChangeStreamReader reader;

	@AfterEach
	void stop() {
		this.reader.stop(Duration.ofSeconds(60));
		assertThat(this.reader.isReading()).isFalse();
		assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName).doesNotContain("dblock-releases");
	}

	@Test
	void noErrorEndsTheThreadWhereverItComesFrom() {
		AtomicInteger openings = new AtomicInteger();
		this.told.onInterruption = (reason) -> {
			throw new AssertionError("scripted: told " + reason);
		};
		read(() -> {
			openings.incrementAndGet();
			throw new OutOfMemoryError("scripted");
		});
		eventually(() -> assertThat(openings).hasValueGreaterThan(2));
		assertThat(this.reader.isReading()).isTrue();
		assertThat(this.told.news).contains("interrupted scripted");
	}

	@Test
	void anErrorWhileItTellsThatThereAreNoStreamsDoesNotEndIt() {
		AtomicInteger openings = new AtomicInteger();
		this.told.onUnsupported = (reason) -> {
			if (openings.get() == 1) {
				throw new StackOverflowError("scripted");
			}
		};
		read(() -> {
			openings.incrementAndGet();
			throw new MongoCommandException(new BsonDocument("code", new BsonInt32(115)), new ServerAddress());
		});
		eventually(() -> assertThat(this.told.news).contains("unsupported"));
		eventually(() -> assertThat(this.reader.isReading()).isFalse());
		assertThat(openings).hasValue(2);
	}

	@Test
	void anInterruptFromElsewhereNeitherEndsTheThreadNorKeepsItBusy() {
		AtomicInteger openings = new AtomicInteger();
		this.told.onInterruption = (reason) -> {
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
	void releasesAreToldAfterErrorsOfWhoIsTold(MongoServer server) {
		MongoCollection<BsonDocument> locks = server.client()
			.getDatabase(server.freshDatabase())
			.getCollection("locks", BsonDocument.class);
		AtomicInteger errors = new AtomicInteger();
		this.told.onListening = () -> {
			if (errors.getAndIncrement() == 0) {
				throw new OutOfMemoryError("scripted");
			}
		};
		this.told.onInterruption = (reason) -> {
			throw new OutOfMemoryError("scripted too");
		};
		read(() -> locks.watch(ReleaseEvents.PIPELINE));
		eventually(() -> assertThat(this.told.news).contains("listening"));
		BsonDocument key = new BsonDocument(LockDocument.ID, new BsonString("stock"));
		locks.insertOne(key);
		locks.deleteOne(key);
		eventually(() -> assertThat(this.told.news).contains("released stock"));
	}

	private void read(Supplier<ChangeStreamIterable<BsonDocument>> streams) {
		this.reader = new ChangeStreamReader(streams, this.told);
		this.reader.start();
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	private static final class Told implements ReleaseListener {

		private final List<String> news = new CopyOnWriteArrayList<>();

		private volatile Runnable onListening = () -> {
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
