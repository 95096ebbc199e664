package dev.dblock.actuate;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
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
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The endpoints of an application, asked over HTTP.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DblockActuatorTests {

	private static final Duration LEASE = Duration.ofSeconds(9);

	private final HttpClient http = HttpClient.newHttpClient();

	private ConfigurableApplicationContext application;

	private ConfigurableApplicationContext readOnly;

	private LockTemplate locks;

	@BeforeAll
	void start(MongoServer server) {
		String uri = server.uri(server.freshDatabase());
		this.application = start(uri, "management.endpoint.dblock.access=unrestricted");
		this.readOnly = start(uri, "spring.jackson.property-naming-strategy=SNAKE_CASE");
		this.locks = this.application.getBean(LockTemplate.class);
	}

	private static ConfigurableApplicationContext start(String uri, String... properties) {
		return new SpringApplicationBuilder(WebApplication.class)
			.properties("server.port=0", "spring.mongodb.uri=" + uri, "dblock.acquirer=this test",
					"dblock.name-prefix=app-", "management.endpoints.web.exposure.include=*",
					"management.endpoint.health.show-details=always")
			.properties(properties)
			.run();
	}

	@AfterAll
	void stop() {
		this.readOnly.close();
		this.application.close();
	}

	private HttpResponse<String> send(ConfigurableApplicationContext application, String method, String path)
			throws IOException, InterruptedException {
		String port = application.getEnvironment().getRequiredProperty("local.server.port");
		URI uri = URI.create("http://127.0.0.1:" + port + "/actuator/" + path);
		return this.http.send(HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build(),
				BodyHandlers.ofString());
	}

	private Document get(String path) throws IOException, InterruptedException {
		HttpResponse<String> response = send(this.application, "GET", path);
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return Document.parse(response.body());
	}

	private static String encoded(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
	}

	@Test
	void responsesHaveTheSameNamesWhateverTheApplicationSetsForItsOwnJson() throws Exception {
		try (LockHandle handle = this.locks.acquire("snake")) {
			for (String path : List.of("dblock/" + handle.name(), "dblock")) {
				assertThat(send(this.readOnly, "GET", path).body())
					.contains("\"expiresAt\"", "\"" + handle.name() + "\"")
					.doesNotContain("expires_at", "\"read\"");
			}
		}
	}

	@Test
	void showsTheHolderOfALockItsTimesAndReason() throws Exception {
		try (LockHandle handle = this.locks.acquire("told", LockOptions.defaults().why("to be told of"))) {
			Document lock = get("dblock/app-told");
			assertThat(lock).containsEntry("name", "app-told")
				.containsEntry("held", true)
				.containsEntry("acquirer", "this test")
				.containsEntry("thread", Thread.currentThread().getName())
				.containsEntry("why", "to be told of");
			assertThat(lock.getLong("token")).isGreaterThanOrEqualTo(handle.token());
			assertThat(lock.getString("acquiredAt")).startsWith("20").endsWith("Z");
			assertThat(lock.getString("expiresAt")).startsWith("20").endsWith("Z");
			assertThat(Duration.parse(lock.getString("remaining"))).isPositive();
			assertThat(get("dblock").getList("locks", Document.class)).extracting((one) -> one.getString("name"))
				.contains("app-told");
		}
		assertThat(get("dblock/app-told")).containsEntry("held", false).containsKey("releasedAt");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a b", "a#b", "50%", "a?b=c&d", "x;y=z", "[a]{b}", "\u00E9\u4E2D", "a+b", "a:b@c",
			"\"quoted\"", "a/b", "a/b/c d" })
	void findsOddNamesInThePath(String name) throws Exception {
		this.locks.acquire(name).close();
		String path = encoded("app-" + name).replace("%2F", "/");
		assertThat(get("dblock/" + path)).containsEntry("name", "app-" + name);
		assertThat(send(this.application, "DELETE", "dblock/" + path).body()).contains("This lock is not held");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a b", "50%", "x;y=z", "a//b", "/a/", "..", "a/../b", "back\\slash", "a+b&c=d#e?f",
			"\u00E9\u4E2D\uD83D\uDD12" })
	void findsAnyNameThatIsAParameter(String name) throws Exception {
		this.locks.acquire(name).close();
		String query = "dblock?name=" + encoded("app-" + name);
		assertThat(get(query).getList("locks", Document.class)).singleElement()
			.satisfies((lock) -> assertThat(lock.getString("name")).isEqualTo("app-" + name));
		assertThat(send(this.application, "DELETE", query).body()).contains("This lock is not held");
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock/never", "dblock?name=never" })
	void knowsNothingOfANameThatWasNeverLocked(String path) throws Exception {
		assertThat(send(this.application, "GET", path).statusCode()).isEqualTo(404);
		assertThat(send(this.application, "DELETE", path).body()).contains("There is no such lock");
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock?database=oders", "dblock/told?database=oders", "dblock?name=told&database=oders" })
	void listsTheDatabases(String path) throws Exception {
		HttpResponse<String> response = send(this.application, "GET", path);
		assertThat(response.statusCode()).isEqualTo(404);
		assertThat(Document.parse(response.body()).getString("meaning")).contains("'oders'",
				"there are: mongoDatabaseFactory", "omit it");
	}

	@Test
	void listsReleasedLocksOnRequestPageByPage() throws Exception {
		for (String name : List.of("page-1", "page-2", "page-3")) {
			this.locks.acquire(name).close();
		}
		try (LockHandle held = this.locks.acquire("page-4")) {
			assertThat(names(get("dblock?after=app-page-"))).contains(held.name())
				.doesNotContain("app-page-1", "app-page-2", "app-page-3");
			Document page = get("dblock?released=true&after=app-page-1&limit=2");
			assertThat(names(page)).containsExactly("app-page-2", "app-page-3");
			assertThat(page).containsEntry("more", true);
			assertThat(get("dblock?released=true&after=zzz")).containsEntry("more", false);
			assertThat(names(get("dblock?limit=-1&after=app-page-"))).hasSize(1);
		}
	}

	private static List<String> names(Document page) {
		return page.getList("locks", Document.class).stream().map((lock) -> lock.getString("name")).toList();
	}

	@Test
	void releasesNothingWithoutAName() throws Exception {
		assertThat(send(this.application, "DELETE", "dblock").statusCode()).isEqualTo(400);
	}

	@Test
	void aForciblyReleasedLockIsReportedToItsHolderBeforeASuccessorGetsIt() throws Exception {
		LockHandle handle = this.locks.acquire("taken", LockOptions.lease(LEASE));
		HttpResponse<String> response = send(this.application, "DELETE", "dblock/app-taken");
		assertThat(response.statusCode()).isEqualTo(200);
		Document answer = Document.parse(response.body());
		assertThat(answer).containsEntry("released", true);
		assertThat(answer.getString("meaning")).contains("this test", "at its next renewal");
		if (handle.isHeld()) {
			assertThat(this.locks.tryAcquire("taken")).as("no other holder before the loss is reported").isEmpty();
		}
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !handle.isHeld());
		assertThat(handle.release()).isFalse();
	}

	@Test
	void exclusionIsGivenUpOnlyWhenAsked() throws Exception {
		LockHandle handle = this.locks.acquire("freed", LockOptions.lease(LEASE));
		String answer = send(this.application, "DELETE", "dblock/app-freed?now=true").body();
		assertThat(answer).contains("EXCLUSION IS GIVEN UP");
		assertThat(get("dblock/app-freed")).containsEntry("held", false);
		assertThat(handle.release()).isFalse();
	}

	@Test
	void isReadOnlyUnlessConfiguredOtherwise() throws Exception {
		try (LockHandle handle = this.locks.acquire("kept")) {
			assertThat(send(this.readOnly, "GET", "dblock/app-kept").statusCode()).isEqualTo(200);
			assertThat(send(this.readOnly, "DELETE", "dblock/app-kept").statusCode()).isEqualTo(405);
			assertThat(send(this.readOnly, "DELETE", "dblock?name=app-kept").statusCode()).isEqualTo(405);
			handle.renew();
			assertThat(handle.isHeld()).isTrue();
		}
	}

	@Test
	void showsItsHealth() throws Exception {
		Document health = get("health/dblock");
		assertThat(health).containsEntry("status", "UP");
		assertThat(health.get("details", Document.class)).containsEntry("store", "reachable")
			.containsEntry("watchdog", "alive")
			.containsKeys("clockOffsetMillis", "clockUncertaintyMillis", "releases");
	}

	@Test
	void showsItsMetrics() throws Exception {
		this.locks.acquire("measured").close();
		assertThat(get("metrics").getList("names", String.class)).contains("dblock.locks.held", "dblock.leases.lost",
				"dblock.acquire", "dblock.hold", "dblock.release");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class WebApplication {

	}

}
