package dev.dblock.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link MongodProcess}.
 */
@MongoServerTest(kind = MongoServerKind.STANDALONE, faults = true)
class MongodProcessTests {

	@TempDir
	private Path folder;

	@Test
	void nothingIsLeftWhenTheJvmOfTheTestsIsKilled() throws Exception {
		ProcessBuilder command = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-cp", System.getProperty("java.class.path"), ServerThatWaits.class.getName())
			.redirectError(ProcessBuilder.Redirect.DISCARD);
		command.environment().put(ServerFolder.VARIABLE, this.folder.toString());
		Process jvm = command.start();
		int port = Integer.parseInt(lastWord(jvm));
		assertThat(this.folder).isNotEmptyDirectory();
		connect(port);
		jvm.destroyForcibly().onExit().join();
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
			assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> connect(port));
			assertThat(this.folder).isEmptyDirectory();
		});
	}

	private static void connect(int port) throws IOException {
		new Socket(InetAddress.getLoopbackAddress(), port).close();
	}

	private static String lastWord(Process process) throws IOException {
		BufferedReader output = new BufferedReader(
				new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
		String line = output.readLine();
		while (line != null && !line.startsWith("port ")) {
			line = output.readLine();
		}
		assertThat(line).as("the output of the other JVM").isNotNull();
		return line.substring("port ".length());
	}

	static final class ServerThatWaits {

		private ServerThatWaits() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			Deployment server = ServerSources.ofThisMachine()
				.find(new ServerDemand(MongoServerKind.STANDALONE, true, true))
				.orElseThrow()
				.start()
				.get();
			System.out.println("port " + server.nodes().get(0).address().split(":")[1]);
			new CountDownLatch(1).await();
		}

	}

}
