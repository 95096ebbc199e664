package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoServerException;
import com.mongodb.ServerAddress;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.ValidationOptions;
import dev.dblock.job.mongodb.JobStatements;
import dev.dblock.store.ListRequest;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonType;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEachServer
@MongoServerTest(kind = MongoServerKind.STANDALONE, faults = true)
@ExtendWith(OutputCaptureExtension.class)
class DialectDetectionTests {

	private static final LeaseTimes TIMES = new LeaseTimes(500, 86_400_000);

	private final PipelineStatements pipeline = new PipelineStatements(TIMES, new JobStatements());

	private final Statements classic = new ClassicStatements(TIMES,
			new ServerClock(System::nanoTime, System::currentTimeMillis, () -> "", new HelloCommand()::say),
			new JobStatements());

	private DialectDetection detection(@Nullable Boolean setting, Function<StoreRequest, BsonDocument> hello) {
		return new DialectDetection(setting, new StoreSuitability("locks", "locks.fences"), this.pipeline, this.classic,
				hello);
	}

	private DialectDetection auto() {
		return detection(null, new HelloCommand()::say);
	}

	private static StoreRequest store(MongoServer server) {
		return new StoreRequest(server.client().getDatabase(server.freshDatabase()), new LockCollection("locks"),
				Duration.ofSeconds(60));
	}

	@Test
	void aRealServerUnderstandsPipelines(MongoServer server) {
		StoreRequest store = store(server);
		assertThat(auto().statements(store)).isSameAs(this.pipeline);
		assertThat(server.client().getDatabase("admin").listCollectionNames()).doesNotContain("locks");
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void theEmbeddedServerDoesNot(MongoServer server) {
		assertThat(auto().statements(store(server))).isSameAs(this.classic);
	}

	@Test
	void nothingIsAskedWhenItIsSet(MongoServer server) {
		long before = server.commandCount("findAndModify");
		assertThat(detection(true, new HelloCommand()::say).statements(store(server))).isSameAs(this.pipeline);
		assertThat(detection(false, new HelloCommand()::say).statements(store(server))).isSameAs(this.classic);
		assertThat(server.commandCount("findAndModify")).isEqualTo(before);
	}

	@Test
	void itIsAskedOnce(MongoServer server) {
		DialectDetection detection = auto();
		StoreRequest store = store(server);
		long before = server.commandCount("findAndModify");
		detection.statements(store);
		detection.statements(store);
		assertThat(server.commandCount("findAndModify")).isEqualTo(before + 3);
	}

	private static List<Document> documents(MongoServer server, StoreRequest store) {
		return server.client().getDatabase(store.databaseName()).getCollection("locks").find().into(new ArrayList<>());
	}

	@Test
	void theDocumentOfTheCheckIsRemoved(MongoServer server) {
		StoreRequest store = store(server);
		assertThat(auto().statements(store)).isSameAs(this.pipeline);
		assertThat(documents(server, store)).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "findAndModify, 8", "findAndModify, 115", "update, 8", "update, 115" })
	void theDocumentOfTheCheckIsRemovedAfterAFailure(String command, int code, MongoServer server) {
		StoreRequest store = store(server);
		int passed = command.equals("update") ? 0 : 1;
		server.failCommand(FailCommand.on(command).after(passed).errorCode(code));
		DialectDetection detection = auto();
		if (code == 115) {
			assertThat(detection.statements(store)).isSameAs(this.classic);
		}
		else {
			assertThatExceptionOfType(MongoServerException.class).isThrownBy(() -> detection.statements(store));
		}
		assertThat(documents(server, store)).isEmpty();
	}

	@Test
	void aDocumentOfTheCheckThatRemainedIsNoLockAndIsRemovedByTheTtlIndexOrTheNextCheck(MongoServer server) {
		StoreRequest store = store(server);
		server.failCommand(FailCommand.on("delete").errorCode(13));
		assertThat(auto().statements(store)).isSameAs(this.pipeline);
		assertThat(documents(server, store)).singleElement().satisfies((document) -> {
			assertThat(document.get("_id")).isEqualTo(new Document("dblock", "dialect check"));
			assertThat(document.getDate("cleanUpAt")).isBeforeOrEqualTo(new Date(Requests.serverTime(store)));
		});
		assertThat(this.pipeline.findAll(store, ListRequest.all("")).locks()).isEmpty();
		assertThat(this.classic.findAll(store, ListRequest.all("")).locks()).isEmpty();
		server.clearFailPoints();
		assertThat(auto().statements(store)).isSameAs(this.pipeline);
		assertThat(documents(server, store)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{holder: 'check', releasedAt: {$date: 1}, fencePending: false}", "{fencePending: false}",
			"{why: 'check', releasedAt: {$date: 1}, fencePending: false}", "{releasedAt: true, fencePending: false}",
			"{releasedAt: {$date: 1}}" })
	void aServerThatDoesNotReleaseIsRefused(String answer) {
		PipelineStatements.requireUpdated(BsonDocument.parse("{releasedAt: {$date: 1}, fencePending: false}"));
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> PipelineStatements.requireUpdated(BsonDocument.parse(answer)))
			.withMessageContaining("no lock could be released")
			.withMessageContaining("Keep the locks in MongoDB");
	}

	@Test
	void checksOfSeveralInstancesDoNotDisturbEachOther(MongoServer server) throws Exception {
		StoreRequest store = store(server);
		ExecutorService instances = Executors.newFixedThreadPool(16);
		try {
			List<Future<Statements>> detected = new ArrayList<>();
			for (int i = 0; i < 64; i++) {
				detected.add(instances.submit(() -> auto().statements(store)));
			}
			for (Future<Statements> each : detected) {
				assertThat(each.get()).isSameAs(this.pipeline);
			}
		}
		finally {
			instances.shutdownNow();
		}
		assertThat(documents(server, store)).isEmpty();
	}

	@Test
	void aValidatorDecidesNothing(MongoServer server) {
		StoreRequest store = store(server);
		server.client()
			.getDatabase(store.databaseName())
			.createCollection("locks", new CreateCollectionOptions()
				.validationOptions(new ValidationOptions().validator(Filters.type("_id", BsonType.STRING))));
		assertThat(auto().statements(store)).isSameAs(this.pipeline);
	}

	@Test
	void aUserWithoutTheRightToInsertLearnsOfIt(MongoServer server) {
		server.failCommand(FailCommand.on("findAndModify").errorCode(13));
		assertThatExceptionOfType(MongoCommandException.class).isThrownBy(() -> auto().statements(store(server)))
			.satisfies((ex) -> assertThat(ex.getErrorCode()).isEqualTo(13));
	}

	/**
	 * As SecantusDB 0.7 and nx-27017 0.8 do.
	 */
	@Test
	void anOperatorThatFailsOnlyOnADocumentAndAnErrorWithoutACodeMeanClassic(MongoServer server) {
		server.failCommand(FailCommand.on("findAndModify").after(1).times(1).errorCode(17276));
		assertThat(auto().statements(store(server))).isSameAs(this.classic);
		DialectDetection detection = detection(null, (store) -> {
			throw new MongoCommandException(new BsonDocument("errmsg", new BsonString("'list' has no 'keys'")),
					new ServerAddress());
		});
		assertThat(detection.statements(store(server))).isSameAs(this.classic);
	}

	@ParameterizedTest
	@ValueSource(ints = { 9, 14, 59, 115, 168, 238, 17276, 31325, 40324 })
	void anErrorThatSaysNotUnderstoodMeansClassic(int code, MongoServer server) {
		server.failCommand(FailCommand.on("findAndModify").times(1).errorCode(code));
		DialectDetection detection = auto();
		StoreRequest store = store(server);
		assertThat(detection.statements(store)).isSameAs(this.classic);
		assertThat(detection.statements(store)).isSameAs(this.classic);
	}

	@ParameterizedTest
	@ValueSource(ints = { 303, 304, 305 })
	void errorsOfAmazonDocumentDbMeanClassic(int code, MongoServer server) {
		BsonDocument answer = new BsonDocument("code", new BsonInt32(code)).append("errmsg",
				new BsonString("Feature not supported: pipelines"));
		DialectDetection detection = detection(null, (store) -> {
			throw new MongoCommandException(answer, new ServerAddress());
		});
		assertThat(detection.statements(store(server))).isSameAs(this.classic);
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 8, 13, 26, 96, 305 })
	void anyOtherErrorDecidesNothingAndIsThrown(int code, MongoServer server) {
		server.failCommand(FailCommand.on("findAndModify").times(1).errorCode(code));
		DialectDetection detection = auto();
		StoreRequest store = store(server);
		assertThatExceptionOfType(MongoCommandException.class).isThrownBy(() -> detection.statements(store))
			.satisfies((ex) -> assertThat(ex.getErrorCode()).isEqualTo(code));
		assertThat(detection.statements(store)).isSameAs(this.pipeline);
	}

	@Test
	void aServerBefore44IsSpokenToInClassicStatements(MongoServer server) {
		DialectDetection detection = detection(null, (store) -> new BsonDocument("maxWireVersion", new BsonInt32(8)));
		assertThat(detection.statements(store(server))).isSameAs(this.classic);
		assertThat(detection(null, (store) -> new BsonDocument()).statements(store(server))).isSameAs(this.classic);
	}

	@Test
	void behindRoutersTheDecidingClocksAreLoggedOnce(MongoServer server, CapturedOutput output) {
		DialectDetection detection = detection(null, (store) -> new BsonDocument("maxWireVersion", new BsonInt32(17))
			.append("msg", new BsonString("isdbgrid")));
		StoreRequest store = store(server);
		assertThat(detection.statements(store)).isSameAs(this.pipeline);
		detection.statements(store);
		assertThat(output.getOut()).containsOnlyOnce("clocks of the mongos routers");
	}

}
