package dev.dblock.console;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.job.JobOperations;
import dev.dblock.testing.SameOnEachJdk;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The console's endpoint over HTTP, with locks in memory.
 */
@SameOnEachJdk
class ConsoleEndpointTests {

	private static final String LOCAL = "dblock.mode=local";

	@ParameterizedTest
	@ValueSource(strings = { "management.endpoints.web.exposure.include=dblock", "dblock.mode=none",
			"management.endpoint.dblockconsole.access=none", "management.endpoints.access.max-permitted=none" })
	void isAbsentUnlessExposed(String property) throws Exception {
		try (Instance instance = Instance.start(LOCAL, property)) {
			int status = Instance.get(instance.console()).statusCode();
			// Without locks, the console shows that there are none
			assertThat(status).isEqualTo(property.startsWith("dblock") ? 200 : 404);
			assertThat(instance.context().getBeansOfType(RecentEvents.class)).hasSize((status == 200) ? 1 : 0);
		}
	}

	@ParameterizedTest
	@EnumSource
	void everyResponseHasTheHeaders(Web web) throws Exception {
		try (Instance instance = web.start(LOCAL)) {
			assertThat(response(instance.console(), "text/html;charset=UTF-8").body()).startsWith("<!doctype html>");
			assertThat(response(instance.console() + "/console.js", "text/javascript;charset=UTF-8").body())
				.contains("XSRF-TOKEN");
			assertThat(response(instance.console() + "/theme.css", "text/css;charset=UTF-8").body())
				.contains("prefers-color-scheme");
			assertThat(response(instance.console() + "/console.css", "text/css;charset=UTF-8").body())
				.contains("prefers-reduced-motion");
			assertThat(Document.parse(response(instance.console() + "/state", "application/json").body()))
				.containsKeys("instance", "jobs", "locks");
			if (web != Web.JERSEY) {
				response(instance.url() + "/actuator/dblockconsol%65", "text/html;charset=UTF-8");
			}
			for (String file : List.of("console.html", "ConsoleEndpoint.class", "..%2fconsole.js")) {
				assertThat(Instance.get(instance.console() + "/" + file).statusCode()).as(file).isBetween(400, 404);
			}
			assertThat(Instance.get(instance.url() + "/actuator/dblockjobs").headers().map())
				.doesNotContainKey("content-security-policy");
		}
	}

	private static HttpResponse<String> response(String url, String type) throws Exception {
		HttpResponse<String> response = Instance.get(url);
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		assertThat(response.headers().firstValue("Content-Type").orElseThrow().replace("; ", ";"))
			.isEqualToIgnoringCase(type);
		assertThat(response.headers().firstValue("Content-Security-Policy").orElseThrow())
			.contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
			.doesNotContain("unsafe");
		assertThat(response.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
		assertThat(response.headers().firstValue("Cache-Control")).hasValue("no-cache, no-store");
		return response;
	}

	@Test
	void linksAreRelativeWhateverThePrefix() throws Exception {
		try (Instance instance = Instance.start(LOCAL, "server.servlet.context-path=/shop",
				"management.endpoints.web.base-path=/ops",
				"management.endpoints.web.path-mapping.dblockconsole=admin/locks",
				"management.endpoints.web.path-mapping.dblockjobs=admin/jobs",
				"management.endpoint.dblockjobs.access=unrestricted")) {
			String page = response(instance.url() + "/shop/ops/admin/locks", "text/html;charset=UTF-8").body();
			assertThat(page).contains("src=\"locks/console.js\"", "href=\"locks/console.css\"")
				.doesNotContain("{folder}", "src=\"/", "href=\"/");
			String state = response(instance.url() + "/shop/ops/admin/locks/state", "application/json").body();
			assertThat(Document.parse(state)).containsEntry("jobsPath", "../../admin/jobs");
		}
	}

	@ParameterizedTest
	@EnumSource
	void isOnTheManagementPort(Web web) throws Exception {
		try (Instance instance = web.start(LOCAL, "management.server.port=0",
				"management.server.base-path=/management")) {
			String management = "http://127.0.0.1:" + instance.port("local.management.port");
			response(management + "/management/actuator/dblockconsole", "text/html;charset=UTF-8");
			response(management + "/management/actuator/dblockconsole/state", "application/json");
			assertThat(Instance.get(instance.console()).statusCode()).isEqualTo(404);
		}
	}

	@ParameterizedTest
	@CsvSource(nullValues = "null", textBlock = """
			management.endpoint.dblock.access=read-only, null, null
			management.endpoint.dblockjobs.access=unrestricted, ../dblockjobs, null
			management.endpoint.dblock.access=unrestricted, null, ../dblock
			management.endpoints.access.default=unrestricted, ../dblockjobs, ../dblock
			management.endpoints.access.max-permitted=read-only, null, null
			""")
	void changesArePermittedByTheAccessOfTheOtherEndpoints(String property, String jobs, String locks)
			throws Exception {
		try (Instance instance = Instance.start(LOCAL, property)) {
			Document state = instance.state("");
			assertThat(state.getString("jobsPath")).isEqualTo(jobs);
			assertThat(state.getString("locksPath")).isEqualTo(locks);
		}
	}

	@Test
	void changesAreNotPermittedWhereTheOtherEndpointsAreNotExposed() throws Exception {
		try (Instance instance = Instance.start(LOCAL, "management.endpoints.access.default=unrestricted",
				"management.endpoints.web.exposure.include=dblockconsole")) {
			assertThat(instance.state("")).doesNotContainKeys("jobsPath", "locksPath");
		}
	}

	/** A form of another origin can send these types without asking first. */
	@ParameterizedTest
	@EnumSource
	void formsOfOtherOriginsChangeNothing(Web web) throws Exception {
		try (Instance instance = web.start(LOCAL, "management.endpoints.access.default=unrestricted")) {
			for (String type : List.of("application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
					"text/plain")) {
				assertThat(post(instance, type)).as(type).isEqualTo(415);
			}
			assertThat(instance.bean(JobOperations.class).find("reminders").orElseThrow().paused()).isFalse();
			assertThat(post(instance, "application/json")).isEqualTo(200);
			assertThat(instance.bean(JobOperations.class).find("reminders").orElseThrow().paused()).isTrue();
		}
	}

	private static int post(Instance instance, String type) throws Exception {
		HttpRequest request = HttpRequest.newBuilder(URI.create(instance.url() + "/actuator/dblockjobs/reminders"))
			.header("Content-Type", type)
			.POST(HttpRequest.BodyPublishers.ofString("{\"action\": \"pause\"}"))
			.build();
		return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
	}

	@ParameterizedTest
	@EnumSource
	void stateHasTheSameNamesWhateverTheApplicationSetsForItsOwnJson(Web web) throws Exception {
		try (Instance instance = web.start(LOCAL, "dblock.acquirer=one",
				"spring.jackson.property-naming-strategy=SNAKE_CASE")) {
			Document state = instance.state("");
			assertThat(state).containsEntry("instance", "one").containsKey("ageMillis");
			assertThat(state.getList("jobs", Document.class)).extracting((job) -> job.getString("id"))
				.containsExactly("archive", "closing", "leap-day", "payments", "reminders", "statements");
		}
	}

	@Test
	void ofManyLocksSomeAreReturnedAndCounted() throws Exception {
		try (Instance instance = Instance.start(LOCAL, "dblock.acquirer=one")) {
			LockTemplate locks = instance.bean(LockTemplate.class);
			List<LockHandle> held = IntStream.range(0, 250)
				.mapToObj((number) -> locks.acquire("order-" + number,
						LockOptions.lease(Duration.ofMinutes(10)).why("settlement " + number)))
				.toList();
			Document all = await(instance, "", (state) -> state.getInteger("matching") >= 250);
			assertThat(all.getList("locks", Document.class)).hasSize(200);
			assertThat(all).containsEntry("more", false);
			Document some = instance.state("?filter=Settlement%2024");
			assertThat(some).containsEntry("matching", 11);
			assertThat(instance.state("?filter=%00%0A%24")).containsEntry("matching", 0);
			assertThat(some.getList("locks", Document.class)).hasSize(11)
				.allSatisfy((lock) -> assertThat(lock).containsEntry("holder", "one").containsEntry("held", true));
			held.forEach(LockHandle::close);
			await(instance, "?filter=order-24", (state) -> state.getInteger("matching") == 1);
			assertThat(instance.state("?filter=order-249").getList("locks", Document.class)).singleElement()
				.satisfies((lock) -> assertThat(lock).containsEntry("held", false));
		}
	}

	@Test
	void freeLockIsFoundByItsFullNameBesideOthers() throws Exception {
		try (Instance instance = Instance.start(LOCAL)) {
			LockTemplate locks = instance.bean(LockTemplate.class);
			locks.acquire("order-1").close();
			try (LockHandle before = locks.acquire("about order-1"); LockHandle after = locks.acquire("order-10")) {
				Document state = await(instance, "?filter=order-1", (read) -> read.getInteger("matching") == 3);
				assertThat(state.getList("locks", Document.class)).extracting((lock) -> lock.getString("name"))
					.containsExactly("about order-1", "order-1", "order-10");
				assertThat(state.getList("locks", Document.class)).extracting((lock) -> lock.getBoolean("held"))
					.containsExactly(true, false, true);
				before.ensureHeld();
				after.ensureHeld();
			}
		}
	}

	/** The state is read once a second, so it can be older than the locks. */
	private static Document await(Instance instance, String query, Predicate<Document> expected) {
		return Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> instance.state(query), expected);
	}

	@Test
	void failureOfTheStoreIsReported() throws Exception {
		try (Instance instance = Instance.start("dblock.mongodb.timeout=300ms", "dblock.check-at-startup=false",
				"spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100")) {
			HttpResponse<String> response = Instance.get(instance.console() + "/state");
			assertThat(response.statusCode()).as(response.body()).isEqualTo(503);
			assertThat(Document.parse(response.body()).getString("problem")).isNotBlank();
			response(instance.console(), "text/html;charset=UTF-8");
		}
	}

}
