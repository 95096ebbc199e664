package dev.dblock.sample;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
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
import dev.dblock.testing.Ports;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the sample: two instances, on a real server and on the embedded one.
 */
@ExtendWith(OutputCaptureExtension.class)
class SampleApplicationTests {

	private static final Duration LONG_ENOUGH = Duration.ofMinutes(4);

	private static final String BRIEFLY = "--sample.report.wait=200ms";

	private static final Pattern REPORT = Pattern.compile("WORKS +on the stock report of (\\S+)");

	abstract static class TwoInstances {

		private Instance one;

		private Instance two;

		/**
		 * Reports are further apart than they are due, so that an instance that is late,
		 * on a busy machine, cannot write one again. Only the first instance takes its
		 * time for orders and counts.
		 */
		void start(String server, String reportWait) {
			this.one = start("one", server, reportWait, "--sample.order.work=3s", "--sample.stock.work=8s");
			this.two = start("two", server, reportWait, "--sample.order.work=1ms", "--sample.stock.work=1ms");
		}

		private static Instance start(String name, String... arguments) {
			List<String> all = new ArrayList<>(List.of(arguments));
			all.addAll(List.of("--sample.report.every-seconds=2", "--sample.report.work=1900ms",
					"--sample.report.min-hold=3s", "--sample.order.wait=60s", "--dblock.lease=60s"));
			return Instance.start(name, all.toArray(new String[0]));
		}

		Instance one() {
			return this.one;
		}

		Instance two() {
			return this.two;
		}

		@AfterEach
		void stop() {
			this.two.close();
			this.one.close();
		}

	}

	/**
	 * What holds on every server.
	 */
	abstract static class OnAnyServer extends TwoInstances {

		@Test
		void eachReportIsWrittenByOneInstanceAndSkippedByTheOther(CapturedOutput output) {
			Awaitility.await().atMost(LONG_ENOUGH).untilAsserted(() -> {
				assertThat(reports(output)).hasSizeGreaterThanOrEqualTo(3);
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
			CompletableFuture<HttpResponse<String>> counting = one().posting("/stock/bolts/count");
			awaitHolder("stock-bolts");
			HttpResponse<String> refused = two().post("/stock/bolts/count");
			assertThat(refused.statusCode()).isEqualTo(409);
			assertThat(refused.body()).contains("'stock-bolts'", "held by one", "for stock-taking");
			assertThat(two().get("/locks").body()).contains("stock-bolts");
			assertThat(counting.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
			assertThat(two().post("/stock/bolts/count").statusCode()).isEqualTo(200);
		}

		@Test
		void orderWaitsForItsOwnSettlementOnly() throws Exception {
			CompletableFuture<HttpResponse<String>> first = one().posting("/orders/7/settlement");
			awaitHolder("order-7");
			assertThat(two().post("/orders/8/settlement").statusCode()).isEqualTo(200);
			assertThat(two().post("/orders/7/settlement").statusCode()).isEqualTo(200);
			assertThat(first.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
		}

		private void awaitHolder(String name) {
			LockTemplate locks = two().context().getBean(LockTemplate.class);
			Awaitility.await().atMost(LONG_ENOUGH).until(() -> locks.inspect(name).filter(LockInfo::held).isPresent());
		}

	}

	@Nested
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	class OnARealServer extends OnAnyServer {

		@BeforeEach
		void start(MongoServer server) {
			start("--spring.mongodb.uri=" + server.uri(server.freshDatabase()), BRIEFLY);
		}

		@Test
		void hostsNoServer() {
			assertThat(one().context().getBeansOfType(EmbeddedMongo.class)).isEmpty();
		}

	}

	@Nested
	class OnTheEmbeddedServer extends OnAnyServer {

		@BeforeEach
		void start() {
			start("--sample.embedded-mongodb.port=" + Ports.free(1).get(0), BRIEFLY);
		}

	}

	@Nested
	class OnAnEmbeddedServerThatGoesAway extends TwoInstances {

		@BeforeEach
		void start() {
			start("--sample.embedded-mongodb.port=" + Ports.free(1).get(0), "--sample.report.wait=60s");
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
			assertThat(output).doesNotContain("\tat com.mongodb", "\tat de.bwaldvogel");
		}

	}

}
