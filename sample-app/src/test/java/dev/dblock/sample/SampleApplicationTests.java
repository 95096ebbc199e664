package dev.dblock.sample;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import dev.dblock.LockInfo;
import dev.dblock.LockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.util.TestSocketUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the sample: two instances, on a real server and on the embedded one.
 */
@ExtendWith(OutputCaptureExtension.class)
class SampleApplicationTests {

	private static final Duration LONG_ENOUGH = Duration.ofSeconds(30);

	private static final Pattern REPORT = Pattern.compile("WORKS +on the stock report of (\\S+)");

	/**
	 * What holds on every server.
	 */
	abstract static class TwoInstances {

		private Instance one;

		private Instance two;

		void start(String server) {
			this.one = start("one", server);
			this.two = start("two", server);
		}

		private static Instance start(String name, String server) {
			return Instance.start(name, server, "--sample.report.every-seconds=1", "--sample.report.work=800ms",
					"--sample.report.min-hold=900ms", "--sample.order.work=500ms", "--sample.stock.work=2s");
		}

		Instance one() {
			return this.one;
		}

		@AfterEach
		void stop() {
			this.two.close();
			this.one.close();
		}

		@Test
		void eachReportIsWrittenByOneInstanceAndSkippedByTheOther(CapturedOutput output) {
			Awaitility.await().atMost(LONG_ENOUGH).untilAsserted(() -> {
				assertThat(reports(output)).hasSizeGreaterThanOrEqualTo(4);
				assertThat(output).containsPattern("HOLDS +stock-report \\(token \\d+\\)")
					.containsPattern("SKIPS +stock-report: (one|two) holds it since \\S+, for another \\d+ ms")
					.containsPattern("RELEASES +stock-report");
			});
			assertThat(reports(output)).doesNotHaveDuplicates();
		}

		private static List<String> reports(CapturedOutput output) {
			return REPORT.matcher(output).results().map((MatchResult match) -> match.group(1)).toList();
		}

		@Test
		void countIsRefusedWithWhoIsAtIt() throws Exception {
			CompletableFuture<HttpResponse<String>> counting = this.one.posting("/stock/bolts/count");
			awaitHolder("stock-bolts");
			HttpResponse<String> refused = this.two.post("/stock/bolts/count");
			assertThat(refused.statusCode()).isEqualTo(409);
			assertThat(refused.body()).contains("'stock-bolts'", "held by one", "for stock-taking");
			assertThat(this.two.get("/locks").body()).contains("stock-bolts");
			assertThat(counting.get(10, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
			assertThat(this.two.post("/stock/bolts/count").statusCode()).isEqualTo(200);
		}

		@Test
		void orderWaitsForItsOwnSettlementOnly() throws Exception {
			CompletableFuture<HttpResponse<String>> first = this.one.posting("/orders/7/settlement");
			awaitHolder("order-7");
			assertThat(this.two.post("/orders/8/settlement").statusCode()).isEqualTo(200);
			assertThat(this.two.post("/orders/7/settlement").statusCode()).isEqualTo(200);
			assertThat(first.get(10, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
		}

		private void awaitHolder(String name) {
			LockTemplate locks = this.two.context().getBean(LockTemplate.class);
			Awaitility.await().atMost(LONG_ENOUGH).until(() -> locks.inspect(name).filter(LockInfo::held).isPresent());
		}

	}

	@Nested
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	class OnARealServer extends TwoInstances {

		@BeforeEach
		void start(MongoServer server) {
			start("--spring.mongodb.uri=" + server.uri(server.freshDatabase()));
		}

		@Test
		void hostsNoServer() {
			assertThat(one().context().getBeansOfType(EmbeddedMongo.class)).isEmpty();
		}

	}

	@Nested
	class OnTheEmbeddedServer extends TwoInstances {

		@BeforeEach
		void start() {
			start("--sample.embedded-mongodb.port=" + TestSocketUtils.findAvailableTcpPort());
		}

		@Test
		void survivorTakesTheServerOverAndGoesOn(CapturedOutput output) {
			assertThat(output).containsPattern("HOSTS +the embedded MongoDB")
				.containsPattern("USES +the embedded MongoDB");
			one().close();
			Awaitility.await()
				.atMost(LONG_ENOUGH)
				.untilAsserted(() -> assertThat(output)
					.containsPattern("(?s)HOSTS +the embedded MongoDB.*all locks began anew.*HOLDS +stock-report"));
			assertThat(output).doesNotContain("\tat ");
		}

	}

}
