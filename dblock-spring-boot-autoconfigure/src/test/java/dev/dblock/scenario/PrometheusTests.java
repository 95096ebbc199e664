package dev.dblock.scenario;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobPolicy;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.Ports;
import dev.dblock.testing.SameOnEachJdk;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The alert rules and the dashboard of the docs, on series as a real Prometheus stores
 * them: it adds the labels {@code job} and {@code instance}, and renames tags that are
 * called the same.
 */
@SameOnEachJdk
@Timeout(600)
class PrometheusTests {

	private static final Path DOCS = Path.of("..", "docs");

	private static final Path RULES = DOCS.resolve("alerts.yml");

	private static final Pattern LABEL = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?([a-z_]+) ?}}");

	private static final String MISSING = "needs Prometheus: on Debian, apt-get install prometheus";

	/** So short that it fits into the time of a test; one that has ended is not cut. */
	private static final Duration LEASE = Duration.ofSeconds(12);

	private final HttpClient http = HttpClient.newHttpClient();

	@TempDir
	private Path folder;

	private static Path onPath(String program) {
		Optional<Path> found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
			.map((folder) -> Path.of(folder, program))
			.filter(Files::isExecutable)
			.findFirst();
		assumeThat(found).as(MISSING).isPresent();
		return found.get();
	}

	@Test
	void rulesHoldOnStoredSeries() throws Exception {
		Path tests = Path.of("src", "test", "resources", "alerts-tests.yml").toAbsolutePath();
		Process promtool = new ProcessBuilder(onPath("promtool").toString(), "test", "rules", tests.toString())
			.redirectErrorStream(true)
			.start();
		String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(promtool.waitFor()).as(output).isZero();
		assertThat(Files.readString(tests)).contains(alerts());
	}

	private static Set<String> alerts() throws IOException {
		return find("alert: (\\w+)", Files.readString(RULES));
	}

	private static Set<String> find(String pattern, String text) {
		return Pattern.compile(pattern)
			.matcher(text)
			.results()
			.map((MatchResult found) -> found.group(1))
			.collect(Collectors.toSet());
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE, fresh = true, faults = true)
	void everyAlertFiresAndEveryPanelShowsSomething(MongoServer server) throws Exception {
		Path binary = onPath("prometheus");
		try (Instances instances = new Instances(server);
				ConfigurableApplicationContext application = new SpringApplicationBuilder(BillingApplication.class)
					.properties("server.port=0", "spring.mongodb.uri=" + instances.uri(), "dblock.acquirer=billing-1",
							"management.endpoints.web.exposure.include=prometheus",
							"spring.task.scheduling.pool.size=4")
					.run()) {
			String target = "127.0.0.1:" + application.getEnvironment().getRequiredProperty("local.server.port");
			int port = Ports.free(1).get(0);
			Process prometheus = start(binary, port, target);
			Runtime.getRuntime().addShutdownHook(new Thread(prometheus::destroy));
			try {
				assertFires(new Prometheus(this.http, port), server, instances, application, target);
			}
			finally {
				prometheus.destroy();
				prometheus.waitFor(60, TimeUnit.SECONDS);
			}
		}
	}

	/**
	 * Start it with the scrape configuration of its documentation, and with the rules
	 * without their waits.
	 */
	private Process start(Path binary, int port, String target) throws IOException {
		Files.writeString(this.folder.resolve("rules.yml"),
				Files.readString(RULES).replaceAll("for: \\d+m", "for: 0s").replace("26 * 3600", "1"));
		Path configuration = Files.writeString(this.folder.resolve("prometheus.yml"), """
				global:
				  scrape_interval: 1s
				  evaluation_interval: 1s
				rule_files: [rules.yml]
				scrape_configs:
				  - job_name: billing
				    metrics_path: /actuator/prometheus
				    static_configs:
				      - targets: ['%s']
				""".formatted(target));
		return new ProcessBuilder(binary.toString(), "--config.file=" + configuration,
				"--storage.tsdb.path=" + this.folder.resolve("data"), "--web.listen-address=127.0.0.1:" + port)
			.redirectErrorStream(true)
			.redirectOutput(this.folder.resolve("prometheus.log").toFile())
			.start();
	}

	private static void assertFires(Prometheus prometheus, MongoServer server, Instances instances,
			ConfigurableApplicationContext application, String target) throws Exception {
		Instances.eventually()
			.ignoreExceptions()
			.until(() -> prometheus.query("dblock_leases_lost_total").size() > 1
					&& !prometheus.query("dblock_renewals_late_total").isEmpty());
		LockTemplate locks = application.getBean(LockTemplate.class);
		Instance another = instances.start("another");
		LockOptions options = LockOptions.lease(Duration.ofMinutes(10));
		Instances.eventually().ignoreExceptions().until(() -> another.locks().acquire("blocked", options).isHeld());
		Instances.eventually()
			.ignoreExceptions()
			.until(() -> another.locks().acquire("crashing", options.claim(JobFiring.at(Instant.now()))).isHeld());
		instances.expire("crashing");
		LockHandle lost = locks.acquire("lost", LockOptions.lease(LEASE));
		locks.forceReleaseNow("lost");
		renewLate(server, application);
		Runnable waits = () -> locks.tryAcquire("blocked", LockOptions.defaults().waitUpTo(Duration.ofSeconds(1)));
		Set<String> alerts = alerts();
		Instances.eventually().untilAsserted(() -> {
			waits.run();
			assertThat(prometheus.firing()).extracting((alert) -> alert.getString("alertname")).containsAll(alerts);
		});
		assertThat(prometheus.firing()).allSatisfy((alert) -> {
			if (alert.getString("alertname").startsWith("DblockJob")) {
				assertThat(alert.getString("job_id")).isIn("nightly-invoices", "impatient", "crashing");
			}
			else {
				assertThat(alert).containsEntry("instance", target);
			}
		});
		assertThat(prometheus.query("{__name__=~\"dblock_.+\"}")).as("no tag is renamed")
			.isNotEmpty()
			.allSatisfy((series) -> assertThat(series.keySet())
				.noneSatisfy((label) -> assertThat(label).startsWith("exported_")));
		LockHandle permit = locks.acquire("export", LockOptions.lease(LEASE).permits(3));
		assertDashboard(prometheus, waits);
		assertThat(permit.isHeld()).isTrue();
		assertThat(lost.isHeld()).isFalse();
	}

	/**
	 * Let renewals fail until less than a third of a lease is left.
	 */
	private static void renewLate(MongoServer server, ConfigurableApplicationContext application) {
		LockTemplate locks = application.getBean(LockTemplate.class);
		FunctionCounter late = application.getBean(MeterRegistry.class).get("dblock.renewals.late").functionCounter();
		while (late.count() == 0) {
			LockHandle handle = locks.acquire("late", LockOptions.lease(LEASE));
			server.failCommand(FailCommand.on("update").errorCode(91));
			Instances.eventually().until(() -> handle.remaining().compareTo(LEASE.dividedBy(3)) < 0);
			server.clearFailPoints();
			Instances.eventually()
				.until(() -> !handle.isHeld() || handle.remaining().compareTo(LEASE.dividedBy(2)) > 0);
			locks.forceReleaseNow("late");
		}
	}

	/**
	 * Each legend of the dashboard has to find its labels.
	 */
	private static void assertDashboard(Prometheus prometheus, Runnable waits) throws Exception {
		Document dashboard = Document.parse(Files.readString(DOCS.resolve("grafana-dashboard.json")));
		for (Document panel : dashboard.getList("panels", Document.class)) {
			for (Document shown : panel.getList("targets", Document.class)) {
				String expression = shown.getString("expr")
					.replace("$instance", ".+")
					.replace("$__rate_interval", "1m");
				Set<String> labels = new HashSet<>();
				LABEL.matcher(shown.getString("legendFormat")).results().forEach((label) -> labels.add(label.group(1)));
				Instances.eventually().untilAsserted(() -> {
					waits.run();
					assertThat(prometheus.query(expression)).as(expression)
						.isNotEmpty()
						.allSatisfy((series) -> assertThat(series).containsKeys(labels.toArray(String[]::new)));
				});
			}
		}
	}

	/**
	 * The HTTP API of Prometheus.
	 */
	private record Prometheus(HttpClient http, int port) {

		List<Document> query(String expression) throws IOException, InterruptedException {
			return get("query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
				.getList("result", Document.class)
				.stream()
				.map((series) -> series.get("metric", Document.class))
				.toList();
		}

		List<Document> firing() throws IOException, InterruptedException {
			List<Document> firing = new ArrayList<>();
			for (Document alert : get("alerts").getList("alerts", Document.class)) {
				if (alert.getString("state").equals("firing")) {
					firing.add(alert.get("labels", Document.class));
				}
			}
			return firing;
		}

		private Document get(String path) throws IOException, InterruptedException {
			HttpRequest request = HttpRequest
				.newBuilder(URI.create("http://127.0.0.1:" + this.port + "/api/v1/" + path))
				.build();
			Document answer = Document.parse(this.http.send(request, BodyHandlers.ofString()).body());
			assertThat(answer).as(path).containsEntry("status", "success");
			return answer.get("data", Document.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class BillingApplication {

		@Bean
		BillingJobs jobs() {
			return new BillingJobs();
		}

	}

	static class BillingJobs {

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "nightly-invoices")
		void fails() {
			throw new IllegalStateException("no paper");
		}

		@Scheduled(cron = "*/5 * * * * *")
		@DistributedLock(name = "blocked")
		@JobPolicy(id = "impatient", startWithinSeconds = 1)
		void starts() {
		}

		@Scheduled(cron = "*/2 * * * * *")
		@DistributedLock(name = "crashing")
		void follows() {
		}

	}

}
