package dev.dblock.test.check;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;

import com.mongodb.client.MongoDatabase;
import dev.dblock.test.check.ServerReport.Result;
import dev.dblock.test.check.ServerReport.Row;
import dev.dblock.test.check.ServerReport.Verdict;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The check on servers that exclude, and on what is no server.
 */
@SameOnEachJdk
class ServerCheckTests {

	private static final Duration BRIEFLY = Duration.ofSeconds(2);

	private final PrintedCheck check = new PrintedCheck();

	private static ServerCheck briefly(String uri) {
		return ServerCheck.of(uri).disturbed(CheckedServer::unnamed, BRIEFLY);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void replicaSetExcludesAndIsLeftAsItWas(MongoServer server) {
		String database = server.freshDatabase();
		ServerReport report = briefly(server.uri(database)).run();
		assertThat(report.verdict()).as("%s", report).isEqualTo(Verdict.EXCLUDES);
		// Before MongoDB 5.0, a write does not wait for a majority by default
		assertThat(report.settings()).isEqualTo((server.majorVersion() < 5)
				? List.of("w=majority in the connection string, for transactions under locks") : List.of());
		assertThat(report.rows()).hasSize(17)
			.extracting(Row::result)
			.as("%s", report)
			.containsOnly(Result.YES, Result.MEASURED);
		assertThat(report.rows().toString()).doesNotContain("127.0.0.1", "localhost", " 0 answers were lost");
		assertThat(server.client().getDatabase(database).listCollectionNames()).isEmpty();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void embeddedServerExcludesWithTheClassicDialect(MongoServer server) {
		ServerReport report = briefly(server.uri(server.freshDatabase())).run().assertExcludes();
		assertThat(report.verdict()).isEqualTo(Verdict.EXCLUDES_WITH_CLASSIC_DIALECT);
		assertThat(report.settings()).contains("dblock.mongodb.statements=classic");
	}

	@Test
	@MongoServerTest
	void realLocksAreLeftAlone(MongoServer server) {
		String database = server.freshDatabase();
		MongoDatabase documents = server.client().getDatabase(database);
		documents.getCollection("locks").insertOne(new Document("_id", "nightly-invoices"));
		assertThat(this.check.run("--collection", "locks", server.uri(database))).isEqualTo(2);
		assertThat(this.check.printed())
			.isEqualTo("Not checked: The collection 'locks' has documents that no check has written. Name another one"
					+ " (--collection)");
		assertThat(documents.getCollection("locks").find()).hasSize(1);
	}

	@ParameterizedTest
	@CsvSource({ "http://localhost, connection string is invalid", "mongodb://, empty host",
			"mongodb://user:p@ss@host, connection string" })
	void invalidConnectionStringIsExplained(String uri, String reason) {
		assertThat(this.check.run(uri)).isEqualTo(2);
		assertThat(this.check.printed()).startsWith("Not checked: This is no connection string").hasLineCount(1);
		assertThat(this.check.printed()).containsIgnoringCase(reason).doesNotContain("p@ss");
	}

	@Test
	void missingConnectionStringPrintsTheUsage() {
		assertThat(this.check.run()).isEqualTo(2);
		assertThat(this.check.printed()).startsWith("Usage: java -jar dblock-check.jar");
		assertThat(this.check.run("--help")).isEqualTo(2);
	}

	@Test
	void missingServerIsReportedInOneLine() throws Exception {
		try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			int port = silent.getLocalPort();
			silent.close();
			assertThat(this.check.run("mongodb://127.0.0.1:" + port)).isEqualTo(2);
		}
		assertThat(this.check.printed()).startsWith("Not checked: No server that accepts writes answered")
			.hasLineCount(1);
	}

	@Test
	void proxyIsLeftOutWithTls() {
		assertThatNoException().isThrownBy(() -> {
			try (CheckedServer server = CheckedServer.unconnected("mongodb://localhost/?tls=true")) {
				assertThat(server.whyNoProxy()).isEqualTo("the connection uses TLS");
			}
		});
	}

	@Test
	void verdictFollowsFromTheResults() {
		Row yes = new Row("sections", Result.YES, "");
		Row skipped = new Row("lost answers", Result.SKIPPED, "");
		assertThat(ServerCheck.verdict(List.of(yes, skipped), false)).isEqualTo(Verdict.EXCLUDES);
		assertThat(ServerCheck.verdict(List.of(yes), true)).isEqualTo(Verdict.EXCLUDES_WITH_CLASSIC_DIALECT);
		assertThat(ServerCheck.verdict(List.of(yes, new Row("jobs", Result.FAILED, "")), false))
			.isEqualTo(Verdict.NOT_CHECKED);
		assertThat(ServerCheck.verdict(List.of(new Row("jobs", Result.FAILED, ""), new Row("tokens", Result.NO, "")),
				true))
			.isEqualTo(Verdict.DOES_NOT_EXCLUDE);
		assertThat(ServerCheck.verdict(List.of(skipped), false)).isEqualTo(Verdict.NOT_CHECKED);
	}

}
