package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.List;

import com.mongodb.MongoCommandException;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoDatabase;
import dev.dblock.job.mongodb.JobStatements;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Answers;
import org.mockito.Mockito;

import org.springframework.dao.InvalidDataAccessResourceUsageException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;

/**
 * Servers that no test can start.
 */
class StoreSuitabilityTests {

	private static final LeaseTimes TIMES = new LeaseTimes(500, 86_400_000);

	private final MongoDatabase database = Mockito.mock(MongoDatabase.class, Answers.RETURNS_SELF);

	private final StoreSuitability check = new StoreSuitability("locks", "locks.fences");

	private final StoreRequest store = new StoreRequest(this.database, new LockCollection("locks"),
			Duration.ofSeconds(5));

	@BeforeEach
	void nameDatabase() {
		Mockito.when(this.database.getName()).thenReturn("test");
	}

	private void answer(@Nullable String buildInfo, int errorOfOthers) {
		Mockito.when(this.database.runCommand(any(Bson.class), any(ReadPreference.class), eq(BsonDocument.class)))
			.thenAnswer((call) -> {
				if (((BsonDocument) call.getArgument(0)).containsKey("buildInfo") && buildInfo != null) {
					return BsonDocument.parse(buildInfo);
				}
				throw new MongoCommandException(new BsonDocument("code", new BsonInt32(errorOfOthers)),
						new ServerAddress());
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "v1.24.2", "v1.24.2-3-gabcdef-dirty", "1.9.0", "v0.9.4", "unknown" })
	void firstVersionOfFerretDbIsRefusedInEachDialect(String version) {
		answer("{version: '7.0.42', ferretdbVersion: '%s'}".formatted(version), 59);
		PipelineStatements pipeline = new PipelineStatements(TIMES, new JobStatements());
		ServerClock clock = new ServerClock(System::nanoTime, System::currentTimeMillis, () -> "", (store) -> {
			throw new AssertionError("Nothing else is asked");
		});
		Statements classic = new ClassicStatements(TIMES, clock, new JobStatements());
		for (Boolean setting : new @Nullable Boolean[] { null, true, false }) {
			DialectDetection detection = new DialectDetection(setting, this.check, pipeline, classic, (store) -> {
				throw new AssertionError("Nothing else is asked");
			});
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
					.isThrownBy(() -> detection.statements(this.store))
					.withMessageStartingWith("The server is FerretDB " + version)
					.withMessageContaining("its updates are not atomic");
			}
		}
	}

	@Test
	void serverThatStoresDatesAsTextsIsRefused() {
		answer("{version: '7.0.0', process: 'nx_27017'}", 59);
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> this.check.accept(this.store))
			.withMessageStartingWith("The server is nx-27017");
	}

	@ParameterizedTest
	@ValueSource(strings = { "{version: '6.0.5', gitVersion: 'abc'}", "{version: '7.0.77', ferretdbVersion: 'v2.5.0'}",
			"{version: '8.2.11', secantusVersion: '0.7.0b3'}", "{ferretdbVersion: 1}", "{}" })
	void otherServersAreNot(String buildInfo) {
		answer(buildInfo, 59);
		assertThatCode(() -> this.check.accept(this.store)).doesNotThrowAnyException();
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 2, 13, 26, 59, 115, 166, 238, 303, 323, 8000 })
	void questionThatIsNotAnsweredChecksNothing(int code) {
		answer(null, code);
		assertThatCode(() -> this.check.accept(this.store)).doesNotThrowAnyException();
	}

	@ParameterizedTest
	@ValueSource(ints = { 6, 112, 262, 11601 })
	void passingErrorIsThrownSoThatTheCheckIsRepeated(int code) {
		answer(null, code);
		assertThatExceptionOfType(MongoCommandException.class).isThrownBy(() -> this.check.accept(this.store))
			.satisfies((ex) -> assertThat(List.of(ex.getErrorCode())).containsExactly(code));
	}

}
