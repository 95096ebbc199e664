package dev.dblock.scenario;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A holder whose process is killed, so that nobody can release its lock.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class KilledHolderTests {

	private static final Duration LEASE = Duration.ofSeconds(9);

	@Test
	void lockIsTakenOverAtTheEndOfItsLeaseAndNotBefore(MongoServer server) throws Exception {
		try (Instances instances = new Instances(server)) {
			Instance other = instances.start("other");
			Process holder = startHolder(instances);
			try {
				long token = Long.parseLong(lastWord(holder));
				Instant granted = instances.instant("stock", "acquiredAt");
				Instances.eventually().until(() -> instances.instant("stock", "updatedAt").isAfter(granted));
				Work<LockHandle> waiter = Work.start(
						() -> other.locks().acquire("stock", LockOptions.defaults().waitUpTo(Duration.ofMinutes(2))));
				waiter.awaitWaiting();
				holder.destroyForcibly().onExit().join();
				Document left = instances.document("stock");
				assertThat(left).containsEntry("acquirer", "killed");
				LockHandle next = waiter.result();
				assertThat(next.token()).isGreaterThan(token);
				assertThat(instances.document("stock").getDate("acquiredAt"))
					.isAfterOrEqualTo(left.getDate("expiresAt"));
				assertThat(instances.document("stock")).containsEntry("fencePending", true);
				assertThat(next.release()).isTrue();
			}
			finally {
				holder.destroyForcibly();
			}
		}
	}

	private static Process startHolder(Instances instances) throws IOException {
		return new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), Holder.class.getName(), instances.uri(),
				instances.documents().getNamespace().getDatabaseName())
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
	}

	private static String lastWord(Process process) throws IOException {
		BufferedReader output = new BufferedReader(
				new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
		String line = output.readLine();
		while (line != null && !line.startsWith("token ")) {
			line = output.readLine();
		}
		assertThat(line).as("the output of the other JVM").isNotNull();
		return line.substring("token ".length());
	}

	static final class Holder {

		private Holder() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			try (Instance instance = new Instance("killed", arguments[0], arguments[1], Duration.ofMillis(500));
					LockHandle handle = instance.locks().acquire("stock", LockOptions.lease(LEASE))) {
				System.out.println("token " + handle.token());
				new CountDownLatch(1).await();
			}
		}

	}

}
