package dev.dblock.test.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The jar, started as a user starts it.
 */
class DblockCheckIT {

	private String printed = "";

	private int check(String... arguments) throws IOException, InterruptedException {
		ProcessBuilder jar = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-jar", System.getProperty("check.jar"));
		jar.command().addAll(List.of(arguments));
		Process process = jar.redirectErrorStream(true).start();
		try {
			this.printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
			return process.exitValue();
		}
		finally {
			process.destroyForcibly();
		}
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void replicaSetExcludes(MongoServer server) throws Exception {
		String database = server.freshDatabase();
		assertThat(check(server.uri(database))).as(() -> this.printed).isZero();
		// Before MongoDB 5.0, a write does not wait for a majority by default
		assertThat(this.printed)
			.contains("Verdict: **excludes**", "| sections | yes |",
					"Settings to use: " + ((server.majorVersion() < 5) ? "w=majority" : "none"))
			.doesNotContain("127.0.0.1", "\tat ");
		assertThat(server.client().getDatabase(database).listCollectionNames()).isEmpty();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void embeddedServerExcludesWithTheClassicDialect(MongoServer server) throws Exception {
		assertThat(check(server.uri(server.freshDatabase()))).as(() -> this.printed).isZero();
		assertThat(this.printed).contains("Verdict: **excludes with the classic dialect**",
				"Settings to use: dblock.mongodb.statements=classic");
	}

	@Test
	void invalidInputEndsInOneLine() throws Exception {
		assertThat(check("http://localhost")).isEqualTo(2);
		assertThat(this.printed.strip()).startsWith("Not checked: ").hasLineCount(1);
	}

}
