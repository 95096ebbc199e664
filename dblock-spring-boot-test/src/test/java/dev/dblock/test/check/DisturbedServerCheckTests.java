package dev.dblock.test.check;

import java.time.Duration;

import dev.dblock.test.check.ServerReport.Result;
import dev.dblock.test.check.ServerReport.Verdict;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The check on servers that do not exclude.
 */
@SameOnEachJdk
class DisturbedServerCheckTests {

	private static ServerReport check(MongoServer server, Disturbance disturbance) {
		return ServerCheck.of(server.uri(server.freshDatabase())).disturbed(disturbance, Duration.ofSeconds(2)).run();
	}

	private static Result result(ServerReport report, String check) {
		return report.rows().stream().filter((row) -> row.check().equals(check)).findFirst().orElseThrow().result();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void serverWhoseUpdatesAreNotAtomicDoesNotExclude(MongoServer server) {
		ServerReport report = check(server, Disturbance.WITHOUT_CONDITIONS);
		assertThat(report.verdict()).as("%s", report).isEqualTo(Verdict.DOES_NOT_EXCLUDE);
		assertThat(result(report, "new names")).isEqualTo(Result.NO);
		assertThatExceptionOfType(AssertionError.class).isThrownBy(report::assertExcludes)
			.withMessageContaining("Verdict: **does not exclude**");
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void serverThatEndsLeasesEarlyDoesNotExclude(MongoServer server) {
		ServerReport report = check(server, Disturbance.RUNAWAY_CLOCK);
		assertThat(report.verdict()).as("%s", report).isEqualTo(Verdict.DOES_NOT_EXCLUDE);
		assertThat(result(report, "end of a lease")).as("%s", report).isEqualTo(Result.NO);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void staleCommitIsSeen(MongoServer server) {
		ServerReport report = check(server, Disturbance.WITHOUT_RAISED_FENCES);
		assertThat(result(report, "fenced commits")).as("%s", report).isEqualTo(Result.NO);
		assertThat(report.settings()).contains("dblock.mongodb.fence-transactions=false");
	}

}
