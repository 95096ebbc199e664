package dev.dblock.compatibility;

import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.SpringVersion;
import org.springframework.data.mongodb.core.MongoTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What dblock does, once each, on the Spring Boot that this module has.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CompatibilityTests {

	private static final Duration LONG_ENOUGH = Duration.ofMinutes(2);

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(LONG_ENOUGH);

	private static final Pattern SPRING_JAR = Pattern.compile("/(spring-[a-z0-9-]+?)-(\\d[^/]*)\\.jar!");

	private static final Set<String> FRAMEWORK = Set.of("spring-aop", "spring-beans", "spring-context", "spring-core",
			"spring-expression", "spring-test", "spring-tx", "spring-web", "spring-webflux", "spring-webmvc");

	private final HttpClient http = HttpClient.newHttpClient();

	private ConfigurableApplicationContext application;

	private ConfigurableApplicationContext other;

	private LockTemplate locks;

	private LockTemplate locksOfOther;

	private OrderService orders;

	@BeforeAll
	void start(MongoServer server) {
		String uri = server.uri(server.freshDatabase());
		this.application = start(uri, "spring.jackson.property-naming-strategy=SNAKE_CASE").run();
		this.other = start(uri, "dblock.max-hold=3600").web(WebApplicationType.NONE).run();
		this.locks = this.application.getBean(LockTemplate.class);
		this.locksOfOther = this.other.getBean(LockTemplate.class);
		this.orders = this.application.getBean(OrderService.class);
	}

	private static SpringApplicationBuilder start(String uri, String... properties) {
		// The property that Spring Boot 4 reads, and that of Spring Boot 3
		return new SpringApplicationBuilder(CompatibilityApplication.class)
			.properties("spring.mongodb.uri=" + uri, "spring.data.mongodb.uri=" + uri)
			.properties(properties);
	}

	@AfterAll
	void stop() {
		this.other.close();
		this.application.close();
	}

	@Test
	void nothingOfAnotherSpringBootIsOnTheClassPath() throws IOException {
		assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("spring-boot.version"));
		List<String> seen = new ArrayList<>();
		for (URL manifest : Collections.list(getClass().getClassLoader().getResources("META-INF/MANIFEST.MF"))) {
			Matcher jar = SPRING_JAR.matcher(manifest.getPath());
			if (jar.find()) {
				seen.add(jar.group(1));
				if (jar.group(1).startsWith("spring-boot")) {
					assertThat(jar.group(2)).as(jar.group(1)).isEqualTo(SpringBootVersion.getVersion());
				}
				else if (FRAMEWORK.contains(jar.group(1))) {
					assertThat(jar.group(2)).as(jar.group(1)).isEqualTo(SpringVersion.getVersion());
				}
			}
		}
		assertThat(seen).contains("spring-boot", "spring-boot-autoconfigure", "spring-boot-test", "spring-core",
				"spring-test", "spring-tx");
	}

	@Test
	void unknownPropertyStopsTheStartAndAPlainNumberIsInSeconds() {
		SpringApplicationBuilder misspelt = start("mongodb://127.0.0.1:1/test", "dblock.leese=5s")
			.web(WebApplicationType.NONE);
		assertThatExceptionOfType(InvalidConfigurationPropertyValueException.class).isThrownBy(misspelt::run)
			.satisfies((ex) -> assertThat(ex.getReason()).contains("Did you mean dblock.lease?"));
		assertThat(this.other.getBean(EngineSettings.class).defaults().maxHold()).isEqualTo(Duration.ofHours(1));
	}

	@Test
	void annotatedMethodRunsUnderItsLock() {
		assertThat(this.orders.settle(new Order("1"))).hasValue("compatibility-1-settle");
		assertThat(lock("compatibility-1-settle").held()).isFalse();
		assertThat(lock("compatibility-1-settle").why()).endsWith("OrderService#settle");
	}

	@Test
	void annotatedMethodIsRefusedOrLeftOutWhileAnotherInstanceHoldsItsLock() {
		try (LockHandle held = this.locksOfOther.acquire("compatibility-2-settle")) {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.orders.settle(new Order("2")))
				.withMessageContaining("compatibility-2-settle");
			assertThat(this.orders.settleUnlessBusy(new Order("2"))).isEmpty();
			held.ensureHeld();
		}
		assertThat(this.orders.settleUnlessBusy(new Order("2"))).hasValue("compatibility-2-settle");
	}

	@Test
	void webRequestIsRefusedWhileAnotherInstanceHoldsItsLock() throws Exception {
		try (LockHandle held = this.locksOfOther.acquire("compatibility-3-settle")) {
			HttpResponse<String> refused = exchange("POST", "settle?id=3");
			assertThat(refused.statusCode()).as(refused.body()).isEqualTo(409);
			assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
			assertThat(refused.headers().firstValueAsLong("Retry-After").orElseThrow()).isBetween(1L, 31L);
			held.ensureHeld();
		}
		assertThat(exchange("POST", "settle?id=3").body()).isEqualTo("compatibility-3-settle");
	}

	@Test
	void scheduleOfAJobIsShownInItsTimeZone() {
		assertThat(this.application.getBean(JobOperations.class).find("leap-day").orElseThrow().schedules())
			.extracting(JobInfo.Schedule::description)
			.containsExactly("cron 0 0 2 29 2 * in Asia/Tokyo");
	}

	@Test
	void scheduledMethodRunsUnderItsLock() {
		NightlyJob job = this.application.getBean(NightlyJob.class);
		int before = job.lockedRuns();
		Awaitility.await().atMost(LONG_ENOUGH).until(() -> job.lockedRuns() >= before + 2);
	}

	@Test
	void templateLocksAndItsTokensRise() {
		assertThat(this.locks.<String>execute("stock", () -> {
			assertThat(this.locksOfOther.tryAcquire("stock")).isEmpty();
			return "reserved";
		})).isEqualTo("reserved");
		long token;
		try (LockHandle first = this.locks.acquire("tokens")) {
			token = first.token();
		}
		try (LockHandle second = this.locksOfOther.acquire("tokens", PATIENT)) {
			assertThat(second.token()).isGreaterThan(token);
		}
	}

	@Test
	void waiterGetsWhatAnotherInstanceReleases() throws Exception {
		LockHandle held = this.locksOfOther.acquire("awaited");
		CompletableFuture<Boolean> waiter = CompletableFuture.supplyAsync(() -> {
			try (LockHandle handle = this.locks.acquire("awaited", PATIENT)) {
				return handle.isHeld();
			}
		});
		assertThat(held.release()).isTrue();
		assertThat(waiter.get(120, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void leaseIsRenewedWhileTheWorkGoesOn() {
		try (LockHandle handle = this.locks.acquire("renewed", LockOptions.lease(Duration.ofSeconds(15)))) {
			LockInfo granted = lock("renewed");
			Awaitility.await()
				.atMost(LONG_ENOUGH)
				.until(() -> lock("renewed").updatedAt().isAfter(granted.acquiredAt()));
			assertThat(lock("renewed").expiresAt()).isAfter(granted.expiresAt());
			handle.ensureHeld();
		}
	}

	@Test
	void staleHolderCannotCommit() {
		MongoTemplate mongo = this.application.getBean(MongoTemplate.class);
		mongo.createCollection("payments");
		this.orders.pay(new Order("in time"), () -> {
		});
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.orders.pay(new Order("too late"), this::overtake));
		assertThat(mongo.findAll(Document.class, "payments")).extracting((payment) -> payment.getString("order"))
			.containsExactly("in time");
	}

	private void overtake() {
		this.locksOfOther.forceReleaseNow("payment");
		this.locksOfOther.acquire("payment", PATIENT).close();
	}

	@Test
	void endpointShowsALockAndTakesItAway() throws Exception {
		LockHandle handle = this.locks.acquire("shown", LockOptions.defaults().why("to be shown"));
		Document shown = Document.parse(send("GET", "dblock/shown"));
		assertThat(shown).containsEntry("held", true).containsEntry("why", "to be shown");
		assertThat(shown.getString("expiresAt")).startsWith("20").endsWith("Z");
		assertThat(Duration.parse(shown.getString("remaining"))).isPositive();
		assertThat(Document.parse(send("GET", "dblock?name=shown")).getList("locks", Document.class)).hasSize(1);
		assertThat(Document.parse(send("GET", "dblock")).getList("locks", Document.class))
			.extracting((lock) -> lock.getString("name"))
			.contains("shown");
		assertThat(Document.parse(send("GET", "dblock/shown"))).containsKey("expiresAt");
		Document release = Document.parse(send("DELETE", "dblock/shown?now=true"));
		assertThat(release).containsEntry("released", true);
		assertThat(release.get("before", Document.class)).containsKey("expiresAt");
		assertThat(handle.release()).isFalse();
		assertThat(Document.parse(send("DELETE", "dblock/shown"))).containsEntry("released", false);
	}

	@Test
	void consoleShowsALockAndPermitsItsRelease() throws Exception {
		assertThat(send("GET", "dblockconsole")).contains("src=\"dblockconsole/console.js\"");
		assertThat(send("GET", "dblockconsole/console.js")).contains("X-XSRF-TOKEN");
		assertThat(exchange("GET", "actuator/dblockconsole").headers().firstValue("Content-Security-Policy"))
			.hasValueSatisfying((policy) -> assertThat(policy).startsWith("default-src 'none'"));
		try (LockHandle handle = this.locks.acquire("on-the-console", LockOptions.defaults().why("to be shown"))) {
			Document state = Awaitility.await()
				.atMost(LONG_ENOUGH)
				.until(() -> Document.parse(send("GET", "dblockconsole/state?filter=on-the")),
						(read) -> read.getInteger("matching") == 1);
			assertThat(state.getList("locks", Document.class)).singleElement()
				.satisfies((lock) -> assertThat(lock).containsEntry("held", true).containsEntry("why", "to be shown"));
			assertThat(state).containsEntry("locksPath", "../dblock").doesNotContainKey("jobsPath");
			assertThat(state.getList("jobs", Document.class)).extracting((job) -> job.getString("id"))
				.contains("leap-day");
			assertThat(state.getList("jobs", Document.class).get(0).getString("at")).endsWith("Z");
			handle.ensureHeld();
		}
	}

	@Test
	void healthIsTold() throws Exception {
		this.locks.acquire("healthy").close();
		Document health = Document.parse(send("GET", "health/dblock"));
		assertThat(health).containsEntry("status", "UP");
		assertThat(health.get("details", Document.class)).containsEntry("store", "reachable")
			.containsEntry("watchdog", "alive");
	}

	@Test
	void metersAndTimersAreThere() throws Exception {
		this.locks.acquire("measured").close();
		assertThat(Document.parse(send("GET", "metrics")).getList("names", String.class)).contains("dblock.locks.held",
				"dblock.leases.lost", "dblock.acquire", "dblock.hold", "dblock.release");
	}

	@Test
	void lockThatCannotWorkStopsTheStart() {
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> new SpringApplicationBuilder(CompatibilityApplication.class, BrokenConfiguration.class)
				.web(WebApplicationType.NONE)
				.run())
			.withMessageContaining("#nobody");
	}

	@Test
	void valueThatCannotBeStopsTheStart() {
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(
					() -> start("mongodb://127.0.0.1:1/test", "dblock.lease=-1s").web(WebApplicationType.NONE).run())
			.havingRootCause()
			.withMessageContaining("dblock.lease");
	}

	private LockInfo lock(String name) {
		return this.locks.inspect(name).orElseThrow();
	}

	private String send(String method, String path) throws IOException, InterruptedException {
		HttpResponse<String> response = exchange(method, "actuator/" + path);
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return response.body();
	}

	private HttpResponse<String> exchange(String method, String path) throws IOException, InterruptedException {
		String port = this.application.getEnvironment().getRequiredProperty("local.server.port");
		URI uri = URI.create("http://127.0.0.1:" + port + "/" + path);
		return this.http.send(HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build(),
				BodyHandlers.ofString());
	}

	static class BrokenConfiguration {

		@Bean
		Broken broken() {
			return new Broken();
		}

	}

	static class Broken {

		@DistributedLock("order-#{#nobody}")
		public void settle(String order) {
		}

	}

}
