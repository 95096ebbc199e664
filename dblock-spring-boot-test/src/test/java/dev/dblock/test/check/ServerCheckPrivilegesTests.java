package dev.dblock.test.check;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import com.mongodb.client.MongoDatabase;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The check as a user with few privileges.
 */
@SameOnEachJdk
class ServerCheckPrivilegesTests {

	private final PrintedCheck check = new PrintedCheck();

	/**
	 * The role of docs/security.md, with the names of the check.
	 */
	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1_WITH_USERS)
	void documentedPrivilegesAreEnoughAndOthersAreNamed(MongoServer server) {
		String database = server.freshDatabase();
		MongoDatabase documents = server.client().getDatabase(database);
		documents.runCommand(new Document("createRole", "dblock")
			.append("privileges",
					List.of(privilege(database, "", "listCollections"),
							privilege(database, "dblock_check", "find", "insert", "update", "remove", "createIndex",
									"listIndexes", "changeStream"),
							privilege(database, "dblock_check.fences", "find", "insert", "update", "createIndex")))
			.append("roles", List.of()));
		for (String user : List.of("dblock", "other")) {
			documents.runCommand(new Document("createUser", user).append("pwd", "secret-1")
				.append("roles", user.equals("dblock") ? List.of("dblock") : List.of()));
		}
		String uri = server.uri(database)
			.replaceFirst("//[^@]*@", "//USER:secret-1@")
			.replaceAll("authSource=\\w+", "authSource=" + database);
		ServerReport report = ServerCheck.of(uri.replace("USER", "dblock"))
			.disturbed(CheckedServer::unnamed, Duration.ofSeconds(2))
			.run()
			.assertExcludes();
		assertThat(report.toString()).contains("| clean-up | NO | left behind: ").doesNotContain("secret-1");
		assertThat(this.check.run(uri.replace("USER", "other"))).isEqualTo(2);
		assertThat(this.check.printed()).startsWith("Not checked: The collection 'dblock_check' cannot be read.")
			.contains("docs/security.md")
			.hasLineCount(1);
		this.check.reset();
		assertThat(this.check.run(uri.replace("USER:secret-1", "dblock:wrong"))).isEqualTo(2);
		assertThat(this.check.printed()).startsWith("Not checked: The server does not accept the user").hasLineCount(1);
	}

	private static Document privilege(String database, String collection, String... actions) {
		return new Document("resource", new Document("db", database).append("collection", collection)).append("actions",
				Arrays.asList(actions));
	}

}
