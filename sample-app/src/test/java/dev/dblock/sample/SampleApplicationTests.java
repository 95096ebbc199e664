package dev.dblock.sample;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.sample.billing.BillingFigures;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.Ports;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.query.Query;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the sample: two instances, on a real server and on the embedded one.
 */
@ExtendWith(OutputCaptureExtension.class)
class SampleApplicationTests {

	private static final Duration LONG_ENOUGH = Duration.ofMinutes(4);

	private static final Pattern RUN = Pattern.compile("WORKS +on the invoice run of ([^ ,]+)");

	/**
	 * They are started once for all tests of a class.
	 */
	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class TwoInstances {

		private Instance one;

		private Instance two;

		void start(String server) {
			this.one = start("one", server);
			this.two = start("two", server);
		}

		private static Instance start(String name, String... arguments) {
			List<String> all = new ArrayList<>(List.of(arguments));
			all.addAll(List.of("--sample.invoice-run.every-seconds=2", "--sample.account.work=1ms",
					"--sample.report.work=1ms", "--sample.export.work=1ms", "--sample.account.wait=60s",
					"--sample.customers.enabled=false", "--dblock.lease=60s"));
			return Instance.start(name, all.toArray(new String[0]));
		}

		Instance one() {
			return this.one;
		}

		Instance two() {
			return this.two;
		}

		@AfterAll
		void stop() {
			this.two.close();
			this.one.close();
		}

	}

	/**
	 * What holds on every server.
	 */
	abstract static class OnAnyServer extends TwoInstances {

		/**
		 * Each test has billed all that it ordered.
		 */
		@BeforeEach
		void forgetWhatOthersHaveOrdered() {
			MongoTemplate mongo = one().context().getBean(MongoTemplate.class);
			for (String collection : List.of("orders", "invoices", "accounts", "reports")) {
				mongo.remove(new Query(), collection);
			}
		}

		@Test
		void eachRunIsMadeByOneInstanceAndSkippedByTheOther(CapturedOutput output) {
			Awaitility.await().atMost(LONG_ENOUGH).untilAsserted(() -> {
				assertThat(runs(output)).hasSizeGreaterThanOrEqualTo(3);
				assertThat(output).containsPattern("HOLDS +invoice-run \\(token \\d+\\)")
					.containsPattern(
							"SKIPS +invoice-run: (one|two) (holds it since \\S+, for another \\d+ ms|has done the run of \\S+)")
					.containsPattern("RELEASES +invoice-run");
			});
			assertThat(runs(output)).doesNotHaveDuplicates();
		}

		private static List<String> runs(CapturedOutput output) {
			return RUN.matcher(output).results().map((MatchResult match) -> match.group(1)).toList();
		}

		@Test
		void eachOrderIsBilledOnce() throws Exception {
			for (int order = 0; order < 30; order++) {
				String json = "{\"customer\":\"customer-%d\",\"cents\":%d}".formatted(order % 3, 100);
				Instance instance = (order % 2 == 0) ? one() : two();
				assertThat(instance.post("/orders", json).statusCode()).isEqualTo(201);
				assertThat(two().post("/accounts/customer-0/settlement").statusCode()).isEqualTo(200);
			}
			BillingFigures figures = two().context().getBean(BillingFigures.class);
			Awaitility.await()
				.atMost(LONG_ENOUGH)
				.untilAsserted(() -> assertThat(figures.count().billedOrders()).isEqualTo(30));
			assertThat(figures.count().openOrders()).isZero();
			assertThat(figures.count().billedTwice()).isZero();
			assertThat(two().post("/report").body()).contains("\"cents\":3000", "\"accounts\":3");
		}

		@Test
		void reportIsRefusedWithWhoIsAtIt() throws Exception {
			try (LockHandle held = hold("report")) {
				HttpResponse<String> refused = two().post("/report");
				assertThat(refused.statusCode()).isEqualTo(409);
				assertThat(refused.body()).contains("'report'", "held by one", "for a test");
				assertThat(two().get("/locks").body()).contains("\"report\"");
				held.ensureHeld();
			}
			assertThat(two().post("/report?wait=60s").statusCode()).isEqualTo(200);
		}

		@Test
		void twoInvoicesAreExportedAtATime() throws Exception {
			LockOptions two = LockOptions.defaults().permits(2);
			try (LockHandle held = one().context().getBean(LockTemplate.class).acquire("export", two)) {
				assertThat(two().post("/export").body()).isEqualTo("{\"permit\":%d}".formatted(3 - held.permit()));
			}
		}

		@Test
		void customersAreBilledSideBySideButEachByOne() throws Exception {
			CompletableFuture<HttpResponse<String>> seven;
			try (LockHandle noRun = hold("invoice-run"); LockHandle account = hold("account-seven")) {
				order("seven");
				order("eight");
				seven = two().posting("/accounts/seven/settlement");
				assertThat(two().post("/accounts/eight/settlement").body()).contains("\"orders\":1");
				assertThat(seven).isNotDone();
				account.ensureHeld();
				noRun.ensureHeld();
				account.release();
				assertThat(seven.get(60, TimeUnit.SECONDS).body()).contains("\"orders\":1");
			}
			assertThat(two().post("/accounts/seven/settlement").body()).contains("\"orders\":0");
		}

		/**
		 * Have the first instance hold a lock, which the other has to respect.
		 */
		private LockHandle hold(String name) {
			LockTemplate locks = one().context().getBean(LockTemplate.class);
			return locks.acquire(name, LockOptions.defaults().waitUpTo(LONG_ENOUGH).why("a test"));
		}

		private void order(String customer) throws Exception {
			two().post("/orders", "{\"customer\":\"%s\",\"cents\":100}".formatted(customer));
		}

	}

	@Nested
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	class OnARealServer extends OnAnyServer {

		@BeforeAll
		void start(MongoServer server) {
			start("--spring.mongodb.uri=" + server.uri(server.freshDatabase()));
		}

		@Test
		void hasTransactions(CapturedOutput output) {
			assertThat(one().context().getBean(SampleServer.class).hasTransactions()).isTrue();
			assertThat(output).containsPattern("WRITES +invoices in transactions that are fenced: .*replica set");
		}

		@Test
		void hostsNoServer() {
			assertThat(one().context().getBeansOfType(EmbeddedMongo.class)).isEmpty();
		}

	}

	@Nested
	class OnTheEmbeddedServer extends OnAnyServer {

		@BeforeAll
		void start() {
			start("--sample.embedded-mongodb.port=" + Ports.free(1).get(0));
		}

		@Test
		void saysThatTransactionsAreOff(CapturedOutput output) {
			assertThat(one().context().getBean(SampleServer.class).hasTransactions()).isFalse();
			assertThat(output).containsPattern("WRITES +invoices without transactions, so without a fence");
		}

	}

	@Nested
	class OnAnEmbeddedServerThatGoesAway extends TwoInstances {

		/** The message of Spring's scheduler, and the stack trace below it. */
		private static final Pattern SCHEDULED_FAILURE = Pattern
			.compile("(?m)^.*Unexpected error occurred in scheduled task.*\\R(?:(?!\\d\\d:\\d\\d:\\d\\d\\.).*\\R)*+");

		@BeforeAll
		void start() {
			start("--sample.embedded-mongodb.port=" + Ports.free(1).get(0));
		}

		@Test
		void survivorTakesTheServerOverAndGoesOn(CapturedOutput output) {
			assertThat(output).containsPattern("HOSTS +the embedded MongoDB")
				.containsPattern("USES +the embedded MongoDB");
			one().close();
			Awaitility.await()
				.atMost(LONG_ENOUGH)
				.untilAsserted(() -> assertThat(output)
					.containsPattern("(?s)HOSTS +the embedded MongoDB.*all locks start over.*HOLDS +invoice-run"));
			assertThat(withoutInterruptedRuns(output)).doesNotContain("\tat com.mongodb", "\tat de.bwaldvogel");
		}

		/**
		 * A run of the invoices that is in progress when the server goes away fails, and
		 * the scheduler reports it.
		 */
		private static String withoutInterruptedRuns(CapturedOutput output) {
			return SCHEDULED_FAILURE.matcher(output.toString())
				.replaceAll((failure) -> failure.group().contains("InvoiceRun.") ? ""
						: Matcher.quoteReplacement(failure.group()));
		}

	}

}
