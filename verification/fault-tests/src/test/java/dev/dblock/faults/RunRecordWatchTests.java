package dev.dblock.faults;

import java.time.Duration;
import java.util.Date;
import java.util.List;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The runs of a collection that also has other documents.
 */
@MongoServerTest(kind = MongoServerKind.STANDALONE)
class RunRecordWatchTests {

	private static final String DATABASE = "run-record-watch";

	@Test
	void readsTheRunsBesideTheDocumentOfTheDialectCheck(MongoServer server) {
		try (MongoClient client = MongoClients.create(server.uri())) {
			MongoCollection<Document> locks = client.getDatabase(DATABASE).getCollection("dblock_locks");
			locks.insertMany(List.of(withRun(new Document("dblock", "dialect check")), withRun("invoices")));
			try (RunRecordWatch watch = new RunRecordWatch(server.uri(), DATABASE)) {
				// The first connection may take longer than the limit of its requests
				Awaitility.await()
					.atMost(Duration.ofMinutes(1))
					.ignoreExceptionsInstanceOf(MongoException.class)
					.untilAsserted(watch::read);
				assertThat(watch.runs()).singleElement().extracting(RecordedRun::job).isEqualTo("invoices");
			}
		}
	}

	private static Document withRun(Object id) {
		Document run = new Document("planned", new Date(1000)).append("attempt", 1)
			.append("started", new Date(1001))
			.append("instance", "worker-1-1")
			.append("token", 7L);
		return new Document("_id", id).append("jobs", new Document("run", new Document("last", run)));
	}

}
