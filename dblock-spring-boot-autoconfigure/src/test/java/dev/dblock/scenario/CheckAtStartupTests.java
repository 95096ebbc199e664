package dev.dblock.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.ValidationOptions;
import dev.dblock.LockOperations;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * An application whose user may not do what locks need reports it when it starts, not
 * when its first job runs.
 */
@ExtendWith(OutputCaptureExtension.class)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1_WITH_USERS, fresh = true, faults = true)
@SameOnEachJdk
class CheckAtStartupTests {

	private static final String WARNING = "No lock can be acquired, so methods that need one would fail at present: ";

	private final MongoServer server;

	private String database;

	private MongoDatabase asAdmin;

	CheckAtStartupTests(MongoServer server) {
		this.server = server;
	}

	@BeforeEach
	void createDatabase() {
		this.database = this.server.freshDatabase();
		this.asAdmin = this.server.client().getDatabase(this.database);
	}

	private String user(Document... privileges) {
		this.asAdmin.runCommand(new Document("createRole", "application").append("privileges", List.of(privileges))
			.append("roles", List.of()));
		this.asAdmin.runCommand(new Document("createUser", "application").append("pwd", "secret")
			.append("roles", List.of("application")));
		return "application:secret";
	}

	private Document privilege(String collection, String... actions) {
		return new Document("resource", new Document("db", this.database).append("collection", collection))
			.append("actions", List.of(actions));
	}

	private ConfigurableApplicationContext start(String user, String... properties) {
		String uri = this.server.uri(this.database)
			.replaceFirst("//[^@]+@", "//" + user + "@")
			.replaceFirst("authSource=admin", "authSource=" + this.database);
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.run(Stream.concat(Stream.of("spring.mongodb.uri=" + uri), Stream.of(properties))
				.map("--"::concat)
				.toArray(String[]::new));
	}

	private static Health health(ConfigurableApplicationContext context) {
		return context.getBean("dblockHealthIndicator", HealthIndicator.class).health();
	}

	private static void awaitWarning(CapturedOutput output, String reason) {
		Instances.eventually().until(() -> output.getOut().contains(WARNING));
		assertThat(output.getOut().lines().filter((line) -> line.contains(WARNING))).singleElement()
			.satisfies((line) -> assertThat(line).contains("WARN", reason));
	}

	private void assertNothingLeft() {
		for (String collection : this.asAdmin.listCollectionNames()) {
			assertThat(this.asAdmin.getCollection(collection).find().into(new ArrayList<>())).as(collection).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "true" })
	void wrongPasswordIsReported(String lazy, CapturedOutput output) {
		user();
		try (ConfigurableApplicationContext context = start("application:wrong",
				"spring.main.lazy-initialization=" + lazy)) {
			awaitWarning(output, "the login failed");
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(context).getDetails()).containsEntry("store", "authentication failed");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "auto", "pipeline", "classic" })
	void userThatCanOnlyReadIsReportedUntilItCanWrite(String statements, CapturedOutput output) {
		String user = user(privilege("", "find", "remove"));
		try (ConfigurableApplicationContext context = start(user, "dblock.mongodb.statements=" + statements)) {
			awaitWarning(output, "in the collection 'dblock_locks': MongoDB denied it");
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(context).getDetails()).containsEntry("store", "not authorized");
			grant(privilege("", "insert"));
			assertThat(health(context).getStatus()).as("update is still missing").isEqualTo(Status.DOWN);
			grant(privilege("", "update"));
			Instances.eventually().until(() -> health(context).getStatus().equals(Status.UP));
			assertThat(output).containsOnlyOnce("Locks can be acquired again in MongoDB").containsOnlyOnce(WARNING);
			assertNothingLeft();
			context.getBean(LockOperations.class).acquire("stock").close();
		}
	}

	private void grant(Document privilege) {
		this.asAdmin
			.runCommand(new Document("grantPrivilegesToRole", "application").append("privileges", List.of(privilege)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "find", "insert", "update" })
	void eachMissingPrivilegeIsReported(String missing, CapturedOutput output) {
		String user = user(privilege("",
				Stream.of("find", "insert", "update").filter((each) -> !each.equals(missing)).toArray(String[]::new)));
		try (ConfigurableApplicationContext context = start(user, "dblock.mongodb.statements=pipeline")) {
			awaitWarning(output, "MongoDB denied it");
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
		}
	}

	@Test
	void userWithoutRightsOnTheFencesIsReported(CapturedOutput output) {
		String user = user(privilege("dblock_locks", "find", "insert", "update", "createIndex", "changeStream"));
		try (ConfigurableApplicationContext context = start(user)) {
			awaitWarning(output, "in the collection 'dblock_fences': MongoDB denied it");
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(context).getDetails()).containsEntry("store", "not authorized");
		}
		try (ConfigurableApplicationContext context = start(user, "dblock.mongodb.fence-transactions=false",
				"dblock.check-at-startup=fail")) {
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
		}
	}

	@Test
	void userWithAllRightsStartsAndNothingIsLeft(CapturedOutput output) {
		String user = user(privilege("", "find", "insert", "update", "remove", "createIndex"));
		try (ConfigurableApplicationContext context = start(user, "dblock.check-at-startup=fail")) {
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			assertNothingLeft();
		}
		assertThat(output).doesNotContain("No lock can be acquired").doesNotContain("again");
	}

	@Test
	void failureOfARequestCountsUntilTheLocksAreGrantedAgain(CapturedOutput output) {
		this.asAdmin.createCollection("dblock_locks", new CreateCollectionOptions().validationOptions(
				new ValidationOptions().validator(new Document("holder", new Document("$exists", false)))));
		try (ConfigurableApplicationContext context = start(user(privilege("", "find", "insert", "update")))) {
			LockOperations locks = context.getBean(LockOperations.class);
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> locks.tryAcquire("stock"));
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(context).getDetails()).containsEntry("store", "unsuitable");
			this.asAdmin.runCommand(new Document("collMod", "dblock_locks").append("validator", new Document()));
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			locks.acquire("stock").close();
		}
		assertThat(output).doesNotContain("No lock can be acquired");
	}

	@Test
	void failureStopsTheStartIfItIsToDoSo(CapturedOutput output) {
		assertThatThrownBy(() -> start(user(privilege("", "find")), "dblock.check-at-startup=fail"))
			.hasRootCauseInstanceOf(MongoCommandException.class);
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("No lock can be acquired: Could not read and write the locks in the collection"
					+ " 'dblock_locks': MongoDB denied it")
			.contains("dblock.check-at-startup is fail");
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock.check-at-startup=false", "dblock.mode=local", "dblock.mode=none" })
	void nothingIsCheckedOtherwise(String property, CapturedOutput output) {
		user();
		start("application:wrong", property).close();
		start("application:wrong", property, "spring.main.lazy-initialization=true").close();
		assertThat(output).doesNotContain("No lock can be acquired").doesNotContain("dblock-check");
	}

	@Test
	void shutdownDoesNotWaitForTheCheckAndReportsNothing(CapturedOutput output) {
		String user = user(privilege("", "find", "insert", "update", "remove", "createIndex"));
		this.server.failCommand(
				FailCommand.on("find").forCollection(this.database, "dblock_locks").blockFor(Duration.ofSeconds(120)));
		start(user, "dblock.mongodb.timeout=100s").close();
		this.server.clearFailPoints();
		assertThat(output).doesNotContain("No lock can be acquired");
		Instances.eventually()
			.until(() -> Thread.getAllStackTraces().keySet().stream().noneMatch(CheckAtStartupTests::checks));
	}

	private static boolean checks(Thread thread) {
		return thread.getName().equals("dblock-check");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
