package dev.dblock.scenario;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.mongodb.LockFence;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A user with the role of {@code docs/security.md} and nothing else may do all that
 * dblock asks for.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1_WITH_USERS, fresh = true, faults = true)
class PrivilegesTests {

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(Duration.ofSeconds(180));

	private static final Pattern ROLE = Pattern.compile("db\\.createRole\\((.+?)\\)\\n", Pattern.DOTALL);

	private String database;

	private String uri;

	private MongoDatabase asAdmin;

	private Instance other;

	@BeforeEach
	void createUser(MongoServer server) throws IOException {
		this.database = server.freshDatabase();
		this.asAdmin = server.client().getDatabase(this.database);
		this.asAdmin.runCommand(documentedRole());
		this.asAdmin.runCommand(
				new Document("createUser", "application").append("pwd", "secret").append("roles", List.of("dblock")));
		this.uri = server.uri(this.database)
			.replaceFirst("//[^@]+@", "//application:secret@")
			.replaceFirst("authSource=admin", "authSource=" + this.database);
		this.other = new Instance("other", this.uri, this.database, Duration.ofMillis(500));
	}

	private Document documentedRole() throws IOException {
		Matcher role = ROLE.matcher(Files.readString(Path.of("../docs/security.md")));
		assertThat(role.find()).isTrue();
		Document shown = Document.parse(role.group(1).replace("\"orders\"", '"' + this.database + '"'));
		Document command = new Document("createRole", shown.remove("role"));
		command.putAll(shown);
		return command;
	}

	@AfterEach
	void stop() {
		this.other.close();
	}

	private ConfigurableApplicationContext start(String... properties) {
		Stream<String> own = Stream.of("spring.mongodb.uri=" + this.uri);
		return new SpringApplicationBuilder(FencedApplication.TransactionConfiguration.class)
			.web(WebApplicationType.NONE)
			.run(Stream.concat(own, Stream.of(properties)).map("--"::concat).toArray(String[]::new));
	}

	@ParameterizedTest
	@CsvSource({ "auto, true", "pipeline, true", "classic, true", "pipeline, false" })
	void documentedRoleIsEnough(String statements, boolean indexes) throws Exception {
		try (ConfigurableApplicationContext context = start("dblock.mongodb.statements=" + statements,
				"dblock.mongodb.create-indexes=" + indexes)) {
			LockTemplate locks = context.getBean(LockTemplate.class);
			useHandles(locks);
			fenceTransactions(locks, context);
			fenceSession(locks, context);
			waitForRelease(locks);
			SentCommands commands = context.getBean(SentCommands.class);
			assertThat(commands.denied()).allMatch(PrivilegesTests::isOptional);
			// An index creates the collection too
			assertThat(commands.count("create")).isEqualTo(indexes ? 0 : 1);
		}
		assertThat(this.other.commands().denied()).allMatch(PrivilegesTests::isOptional);
		assertThat(indexes("dblock_locks")).isEqualTo(2);
		assertThat(indexes("dblock_fences")).isEqualTo(indexes ? 2 : 1);
	}

	@Test
	void roleWithoutThePrivilegesForChecksIsEnough() {
		for (String[] privilege : List.of(new String[] { "", "listCollections" },
				new String[] { "dblock_locks", "listIndexes" }, new String[] { "dblock_locks", "remove" })) {
			Document resource = new Document("db", this.database).append("collection", privilege[0]);
			this.asAdmin.runCommand(new Document("revokePrivilegesFromRole", "dblock").append("privileges",
					List.of(new Document("resource", resource).append("actions", List.of(privilege[1])))));
		}
		try (ConfigurableApplicationContext context = start()) {
			LockTemplate locks = context.getBean(LockTemplate.class);
			useHandles(locks);
			// The check at start-up may send the same commands at the same time
			List<String> denied = context.getBean(SentCommands.class).denied();
			for (String command : List.of("listCollections", "listIndexes", "delete")) {
				assertThat(denied).anyMatch((message) -> message.contains(command));
			}
			assertThat(denied).allMatch(
					(message) -> message.matches("(?s).*execute command \\{ (listCollections|listIndexes|delete):.*"));
		}
	}

	/**
	 * Return whether a command that was denied only shows the write concern of
	 * transactions, which the documented role leaves out.
	 */
	private static boolean isOptional(String denied) {
		return denied.contains("getDefaultRWConcern");
	}

	private static void useHandles(LockTemplate locks) {
		LockHandle handle = locks.acquire("stock");
		handle.renew();
		handle.extend(Duration.ofMinutes(2));
		assertThat(locks.inspect("stock")).isPresent();
		assertThat(handle.release()).isTrue();
		assertThat(locks.acquire("stock", LockOptions.defaults().minHold(Duration.ofSeconds(1))).release()).isTrue();
		locks.acquire("taken away");
		assertThat(locks.forceRelease("taken away")).isTrue();
		assertThat(locks.forceReleaseNow("taken away")).isTrue();
		assertThat(locks.listAll("", 10).locks()).hasSize(2);
	}

	private void fenceTransactions(LockTemplate locks, ConfigurableApplicationContext context) {
		TransactionTemplate transactions = new TransactionTemplate(context.getBean(MongoTransactionManager.class));
		locks.execute("orders", () -> transactions.executeWithoutResult((status) -> {
		}));
		this.other.locks().acquire("orders");
		this.other.locks().forceReleaseNow("orders");
		// Raises the fence
		locks.acquire("orders").release();
	}

	private static void fenceSession(LockTemplate locks, ConfigurableApplicationContext context) {
		try (ClientSession session = context.getBean(MongoClient.class).startSession();
				LockHandle lock = locks.acquire("own session")) {
			session.startTransaction();
			context.getBean(LockFence.class).fence(session, lock);
			session.commitTransaction();
		}
	}

	private void waitForRelease(LockTemplate locks) throws Exception {
		LockHandle held = locks.acquire("waited for");
		Work<LockHandle> waiter = Work.start(() -> this.other.locks().acquire("waited for", PATIENT));
		this.other.awaitSignals();
		held.release();
		assertThat(waiter.result().release()).isTrue();
	}

	private int indexes(String collection) {
		return this.asAdmin.getCollection(collection).listIndexes().into(new ArrayList<>()).size();
	}

}
