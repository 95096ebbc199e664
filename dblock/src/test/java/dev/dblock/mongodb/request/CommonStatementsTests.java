package dev.dblock.mongodb.request;

import java.util.Set;
import java.util.function.Predicate;

import com.mongodb.MongoWriteException;
import com.mongodb.ServerAddress;
import com.mongodb.WriteError;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob.RunEnd;
import dev.dblock.job.mongodb.JobStatements;
import dev.dblock.store.LeaseKey;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class CommonStatementsTests {

	private static final LeaseKey LEASE = new LeaseKey("stock", "holder");

	private static final ClaimStatements.End END = new JobStatements()
		.end(new RunEnd("nightly", JobRun.Outcome.SUCCEEDED, null));

	@ParameterizedTest
	@ValueSource(ints = { 28, 17419 })
	void lockIsReleasedWithoutItsRunIfTheRecordRefusesTheEnd(int code) {
		assertThat(CommonStatements.releaseClaim(LEASE, END, failing(code), (filter) -> true)).isTrue();
	}

	@Test
	void otherErrorsOfAReleaseAreThrown() {
		assertThatExceptionOfType(MongoWriteException.class)
			.isThrownBy(() -> CommonStatements.releaseClaim(LEASE, END, failing(11600), (filter) -> true));
	}

	private static Predicate<BsonDocument> failing(int code) {
		return (filter) -> {
			throw new MongoWriteException(new WriteError(code, "refused", new BsonDocument()), new ServerAddress(),
					Set.of());
		};
	}

}
