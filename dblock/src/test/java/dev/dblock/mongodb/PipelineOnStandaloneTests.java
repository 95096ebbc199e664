package dev.dblock.mongodb;

import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@OnEachServer
@MongoServerTest(kind = MongoServerKind.STANDALONE)
class PipelineOnStandaloneTests extends MongoJobContract {

	private static final Set<String> CHECKED = ConcurrentHashMap.newKeySet();

	private static final Set<String> SENT = ConcurrentHashMap.newKeySet();

	/** The parts of commands that can have operators. */
	private static final List<String> PARTS = List.of("query", "update", "updates", "fields", "filter", "projection");

	private static final int LARGEST_DOCUMENT = 16 * 1024 * 1024;

	private MongoClient recording;

	@Override
	StatementDialect dialect() {
		return StatementDialect.AUTO;
	}

	@BeforeEach
	void recordOperators() {
		this.recording = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(this.server.uri()))
			.addCommandListener(new CommandListener() {

				@Override
				public void commandStarted(CommandStartedEvent event) {
					BsonDocument command = event.getCommand();
					Set<String> to = command.toJson().contains("dialect check") ? CHECKED : SENT;
					PARTS.forEach((part) -> addOperators(command.get(part), to));
				}

			})
			.build());
		this.client = this.recording;
		this.locks = repository(ALLOWANCE);
	}

	@AfterEach
	void stopRecording() {
		this.recording.close();
	}

	private static void addOperators(@Nullable BsonValue part, Set<String> operators) {
		if (part instanceof BsonArray array) {
			array.forEach((element) -> addOperators(element, operators));
		}
		else if (part instanceof BsonString text && text.getValue().startsWith("$$")) {
			operators.add(text.getValue());
		}
		else if (part instanceof BsonDocument document) {
			document.forEach((key, value) -> {
				if (key.startsWith("$")) {
					operators.add(key);
				}
				if (!key.equals("$literal")) {
					addOperators(value, operators);
				}
			});
		}
	}

	/**
	 * The tests of this class send whatever locks and jobs need.
	 */
	@AfterAll
	static void theCheckOfTheDialectHasEveryOperatorThatWasSent() {
		assertThat(SENT).isNotEmpty();
		assertThat(CHECKED).containsAll(SENT);
	}

	@Test
	void aJobKeepsRunningWhenItsRecordFillsTheDocument() {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		set("stock", "jobs.nightly.runs", List.of(new Document("x", "x".repeat(LARGEST_DOCUMENT - 1500))));
		set("stock", "filled", "x".repeat(LARGEST_DOCUMENT - 20 - size(stored("stock"))));
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
		ended(skip(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED);
		assertThat(stored("stock").toJson()).hasSizeLessThan(100_000);
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
	}

	private static int size(Document document) {
		return new RawBsonDocument(document.toBsonDocument(), new BsonDocumentCodec()).getByteBuffer().remaining();
	}

}
