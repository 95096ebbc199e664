package dev.dblock.faults;

import java.time.Duration;
import java.util.Date;
import java.util.List;

import com.mongodb.client.MongoCollection;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The states of the locks of a collection that also has other documents.
 */
@MongoServerTest(kind = MongoServerKind.STANDALONE)
class ServerWatchTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private MongoServer server;

	private String database;

	private MongoCollection<Document> locks;

	@BeforeEach
	void open(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
		this.locks = server.client().getDatabase(this.database).getCollection("dblock_locks");
	}

	private static Document held(Object id, Object token) {
		return new Document("_id", id).append("acquirer", "worker-1-1")
			.append("expiresAt", new Date(System.currentTimeMillis() + 600_000))
			.append("token", token);
	}

	@Test
	void readsTheLocksBesideTheDocumentOfTheDialectCheck() {
		this.locks.insertMany(List.of(held(new Document("dblock", "dialect check"), 1L), held("red", 7L)));
		try (ServerWatch watch = new ServerWatch(this.server.uri(), this.database)) {
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(watch.holder("red")).isEqualTo("worker-1-1"));
			assertThat(watch.stretches()).singleElement().extracting(Stretch::token).isEqualTo(7L);
		}
	}

	@Test
	void theEndOfReadingIsNotOverlooked() {
		this.locks.insertOne(held("red", "no number"));
		try (ServerWatch watch = new ServerWatch(this.server.uri(), this.database)) {
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThatIllegalStateException().isThrownBy(watch::stretches)
					.withMessage("The locks cannot be read"));
		}
	}

}
