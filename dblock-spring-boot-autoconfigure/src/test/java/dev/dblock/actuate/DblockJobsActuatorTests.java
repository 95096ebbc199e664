package dev.dblock.actuate;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobRun;
import dev.dblock.job.event.JobEndedEvent;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The endpoint of jobs, asked over HTTP. Two instances of an application have the same
 * jobs.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DblockJobsActuatorTests {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private final HttpClient http = HttpClient.newHttpClient();

	private ConfigurableApplicationContext one;

	private ConfigurableApplicationContext readOnly;

	@BeforeAll
	void start(MongoServer server) {
		String uri = server.uri(server.freshDatabase());
		this.one = start(uri, "one", "management.endpoint.dblockjobs.access=unrestricted");
		this.readOnly = start(uri, "two", "spring.jackson.property-naming-strategy=SNAKE_CASE");
	}

	private static ConfigurableApplicationContext start(String uri, String name, String... properties) {
		return new SpringApplicationBuilder(Application.class)
			.properties("server.port=0", "spring.mongodb.uri=" + uri, "dblock.acquirer=" + name,
					"dblock.name-prefix=app-", "management.endpoints.web.exposure.include=*",
					"spring.task.scheduling.pool.size=4")
			.properties(properties)
			.run();
	}

	@AfterAll
	void stop() {
		this.readOnly.close();
		this.one.close();
	}

	private HttpResponse<String> send(ConfigurableApplicationContext application, String method, String path,
			String body) throws IOException, InterruptedException {
		String port = application.getEnvironment().getRequiredProperty("local.server.port");
		URI uri = URI.create("http://127.0.0.1:" + port + "/actuator/dblockjobs" + path);
		HttpRequest request = HttpRequest.newBuilder(uri)
			.header("Content-Type", "application/json")
			.method(method,
					body.isEmpty() ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body))
			.build();
		return this.http.send(request, BodyHandlers.ofString());
	}

	private Document job(ConfigurableApplicationContext application, String id) throws Exception {
		HttpResponse<String> response = send(application, "GET", "/" + id, "");
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return Document.parse(response.body());
	}

	private HttpResponse<String> change(String id, String action) throws Exception {
		return send(this.one, "POST", "/" + id, new Document("action", action).append("by", "ann").toJson());
	}

	private static Jobs jobs(ConfigurableApplicationContext application) {
		return AopTestUtils.getTargetObject(application.getBean(Jobs.class));
	}

	@Test
	void responsesHaveTheSameNamesWhateverTheApplicationSetsForItsOwnJson() throws Exception {
		Awaitility.await()
			.atMost(LIMIT)
			.until(() -> !job(this.readOnly, "app-often").getList("runs", Document.class).isEmpty());
		for (String path : List.of("", "/app-often")) {
			assertThat(send(this.readOnly, "GET", path, "").body()).contains("\"plannedAt\"")
				.doesNotContain("planned_at", "\"read\"");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "pause", "resume", "run" })
	void shardIsNotChanged(String action) throws Exception {
		HttpResponse<String> response = change("app-parts%20(shard%201)", action);
		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(Document.parse(response.body()).getString("meaning"))
			.isEqualTo("'app-parts (shard 1)' is a shard; use the job 'app-parts'");
	}

	@Test
	void listsAllJobsWithTheirSchedules() throws Exception {
		HttpResponse<String> response = send(this.readOnly, "GET", "", "");
		assertThat(response.statusCode()).isEqualTo(200);
		List<Document> jobs = Document.parse(response.body()).getList("jobs", Document.class);
		assertThat(jobs).extracting((job) -> job.getString("id"))
			.containsExactly("app-counted", "app-nightly", "app-often", "app-parts", "app-slow", "reports/daily");
		Document nightly = jobs.get(1);
		assertThat(nightly).containsEntry("lock", "app-nightly")
			.containsEntry("method", Jobs.class.getName() + "#nightly")
			.containsEntry("paused", false)
			.containsEntry("overdue", false)
			.containsEntry("runs", List.of());
		Document yearly = nightly.getList("schedules", Document.class).get(0);
		assertThat(yearly).containsEntry("description", "cron 0 0 2 1 1 * in Europe/Berlin");
		assertThat(Instant.parse(yearly.getString("next"))).isAfter(Instant.now());
		assertThat(yearly.getString("next")).endsWith("-01-01T01:00:00Z");
		assertThat(nightly.getList("schedules", Document.class).get(1)).containsEntry("description", "fixed rate 10d");
	}

	@Test
	void oneJobHasItsLastRuns() throws Exception {
		Awaitility.await().atMost(LIMIT).untilAsserted(() -> {
			List<Document> runs = job(this.readOnly, "app-often").getList("runs", Document.class);
			assertThat(runs).hasSizeGreaterThan(2);
			assertThat(runs.get(1)).containsEntry("outcome", "SUCCEEDED").containsEntry("jobId", "app-often");
			assertThat(runs.get(1).getString("instance")).isIn("one", "two");
		});
		Document often = job(this.readOnly, "often");
		assertThat(often).as("the name that the application uses").containsEntry("id", "app-often");
		assertThat(Document.parse(send(this.readOnly, "GET", "", "").body()).getList("jobs", Document.class))
			.allSatisfy((job) -> assertThat(job.getList("runs", Document.class)).hasSizeLessThan(2));
		assertThat(job(this.readOnly, "reports/daily")).containsEntry("lock", "app-daily");
	}

	@Test
	void pauseIsSeenByAllInstances() throws Exception {
		HttpResponse<String> response = change("app-counted", "pause");
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		Document answer = Document.parse(response.body());
		assertThat(answer.getString("meaning")).contains("on all instances");
		assertThat(answer.get("job", Document.class)).containsEntry("paused", true);
		Document job = job(this.readOnly, "app-counted");
		assertThat(job).containsEntry("paused", true).containsEntry("pausedBy", "ann");
		assertThat(Instant.parse(job.getString("pausedAt"))).isBetween(Instant.now().minus(LIMIT), Instant.now());
		int before = jobs(this.one).counted.get() + jobs(this.readOnly).counted.get();
		String often = planned(job(this.one, "app-often"));
		Awaitility.await().atMost(LIMIT).until(() -> !planned(job(this.one, "app-often")).equals(often));
		assertThat(jobs(this.one).counted.get() + jobs(this.readOnly).counted.get()).as("one that had begun")
			.isBetween(before, before + 1);
		assertThat(change("app-counted", "run").statusCode()).as("an operator's run is no planned time").isEqualTo(200);
		assertThat(change("app-counted", "resume").body()).contains("next planned time");
		assertThat(change("app-counted", "resume").body()).contains("was not paused");
		int paused = jobs(this.one).counted.get() + jobs(this.readOnly).counted.get();
		Awaitility.await()
			.atMost(LIMIT)
			.until(() -> jobs(this.one).counted.get() + jobs(this.readOnly).counted.get() > paused);
	}

	private static String planned(Document job) {
		List<Document> runs = job.getList("runs", Document.class);
		return runs.isEmpty() ? "" : runs.get(0).getString("plannedAt");
	}

	@Test
	void runsNowOnThisInstanceAndMovesNoPlannedTime() throws Exception {
		HttpResponse<String> response = change("app-nightly", "run");
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		assertThat(Document.parse(response.body())).containsEntry("result", "DONE");
		Awaitility.await().atMost(LIMIT).until(() -> jobs(this.one).nightly.get() == 1);
		assertThat(jobs(this.readOnly).nightly).hasValue(0);
		assertThat(job(this.one, "app-nightly")).containsEntry("runs", List.of());
	}

	@Test
	void doesNotRunNowWhatRuns() throws Exception {
		assertThat(change("app-slow", "run").statusCode()).isEqualTo(200);
		assertThat(jobs(this.one).begun.tryAcquire(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		HttpResponse<String> response = change("app-slow", "run");
		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(Document.parse(response.body()).getString("meaning")).contains("held by one");
		assertThat(job(this.readOnly, "app-slow")).containsEntry("runningOn", "one");
		jobs(this.one).end.countDown();
		Awaitility.await().atMost(LIMIT).until(() -> job(this.readOnly, "app-slow").get("runningOn") == null);
	}

	@Test
	void showsTheHolderOfTheLock() throws Exception {
		try (LockHandle handle = this.readOnly.getBean(LockTemplate.class).acquire("daily")) {
			assertThat(change("reports/daily", "run").body()).contains("\"REFUSED\"").contains("held by two");
			assertThat(handle.isHeld()).isTrue();
		}
	}

	@Test
	void runsAreMeasuredAndPublished() {
		Awaitility.await().atMost(LIMIT).untilAsserted(() -> {
			assertThat(Stream.of(this.one, this.readOnly)
				.map((application) -> application.getBean(MeterRegistry.class).find("dblock.job.runs"))
				.map((search) -> search.tags("job.id", "app-often", "outcome", "succeeded").timer())
				.filter(Objects::nonNull)
				.mapToLong(Timer::count)
				.sum()).isPositive();
			double seconds = this.one.getBean(MeterRegistry.class)
				.get("dblock.job.since.success")
				.tag("job.id", "app-often")
				.gauge()
				.value();
			assertThat(seconds).isBetween(0.0, (double) LIMIT.toSeconds());
			assertThat(Stream.of(this.one, this.readOnly)
				.flatMap((application) -> application.getBean(Ends.class).runs.stream())).anySatisfy((run) -> {
					assertThat(run.jobId()).isEqualTo("app-often");
					assertThat(run.outcome()).isEqualTo(JobRun.Outcome.SUCCEEDED);
					assertThat(run.endedAt()).isAfterOrEqualTo(run.startedAt());
				});
		});
	}

	@Test
	void readOnlyAccessChangesNothing() throws Exception {
		for (String action : List.of("pause", "resume", "run")) {
			String body = new Document("action", action).toJson();
			assertThat(send(this.readOnly, "POST", "/app-nightly", body).statusCode()).isEqualTo(405);
		}
		assertThat(job(this.readOnly, "app-nightly")).containsEntry("paused", false);
		assertThat(jobs(this.readOnly).nightly).hasValue(0);
	}

	@Test
	void nameOfTheOperatorIsStoredAsOneLineOfValidText() throws Exception {
		String by = "a\u0085" + "b".repeat(97) + "\uD83D\uDE00";
		String body = new Document("action", "pause").append("by", by).toJson();
		assertThat(send(this.one, "POST", "/app-nightly", body).statusCode()).isEqualTo(200);
		assertThat(job(this.readOnly, "app-nightly")).containsEntry("pausedBy", "a " + "b".repeat(97));
		assertThat(change("app-nightly", "resume").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "pause", "resume", "run" })
	void knowsOnlyItsOwnJobs(String action) throws Exception {
		HttpResponse<String> response = change("nothing", action);
		assertThat(response.statusCode()).isEqualTo(404);
		assertThat(Document.parse(response.body()).getString("meaning")).contains("no job with the id 'nothing'");
		assertThat(send(this.one, "GET", "/nothing", "").statusCode()).isEqualTo(404);
		assertThatIllegalArgumentException().isThrownBy(() -> this.one.getBean(JobOperations.class).runNow("nothing"))
			.withMessageContaining("'nothing'");
	}

	@Test
	void refusesUnknownActions() throws Exception {
		HttpResponse<String> unknown = change("app-nightly", "sto\np");
		assertThat(unknown.statusCode()).isEqualTo(400);
		assertThat(Document.parse(unknown.body())).containsEntry("result", "INVALID")
			.containsEntry("meaning", "There is no action 'sto p'. Possible actions: pause, resume, run");
		HttpResponse<String> none = send(this.one, "POST", "/app-nightly", "{}");
		assertThat(none.statusCode()).isEqualTo(400);
		assertThat(Document.parse(none.body()).getString("meaning")).contains("'action'", "pause, resume, run");
		assertThat(change("app-nightly", "RESUME").statusCode()).isEqualTo(200);
	}

	@Test
	void takesTheActionFromTheQuery() throws Exception {
		assertThat(send(this.one, "POST", "/reports/daily?action=resume", "").body()).contains("was not paused");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		@Bean
		Ends ends() {
			return new Ends();
		}

	}

	static class Ends {

		final Queue<JobRun> runs = new ConcurrentLinkedQueue<>();

		@EventListener
		void on(JobEndedEvent event) {
			this.runs.add(event.run());
		}

	}

	static class Jobs {

		final AtomicInteger nightly = new AtomicInteger();

		final AtomicInteger counted = new AtomicInteger();

		final Semaphore begun = new Semaphore(0);

		final CountDownLatch end = new CountDownLatch(1);

		@Scheduled(cron = "0 0 2 1 1 *", zone = "Europe/Berlin")
		@Scheduled(fixedRateString = "P10D", initialDelayString = "P10D")
		@DistributedLock(name = "nightly")
		public void nightly() {
			this.nightly.incrementAndGet();
		}

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "often")
		public void often() {
		}

		@Scheduled(fixedDelay = 100)
		@DistributedLock(name = "counted")
		public void counted() {
			this.counted.incrementAndGet();
		}

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "slow")
		public void slow() throws InterruptedException {
			this.begun.release();
			assertThat(this.end.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		}

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "parts")
		@JobPolicy(shards = 2)
		public void parts() {
		}

		@Scheduled(cron = "0 0 2 1 1 *")
		@DistributedLock(name = "daily")
		@JobPolicy(id = "reports/daily")
		public void daily() {
		}

	}

}
