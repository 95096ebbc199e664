package dev.dblock.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.testing.Ports;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The sample's jar, processed ahead of time when it was built, and started as such.
 */
class AheadOfTimeIT {

	private static final Duration LONG_ENOUGH = Duration.ofMinutes(2);

	@TempDir
	Path folder;

	private Path log;

	private Process sample;

	private Thread hook;

	@BeforeEach
	void start() throws IOException {
		this.log = this.folder.resolve("log");
		this.sample = new ProcessBuilder(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dspring.aot.enabled=true", "-jar",
				System.getProperty("sample.jar"), "--server.port=0",
				"--sample.embedded-mongodb.port=" + Ports.free(1).get(0), "--spring.main.log-startup-info=true"))
			.redirectErrorStream(true)
			.redirectOutput(this.log.toFile())
			.start();
		// Not left behind where the tests are ended before they have ended it
		this.hook = new Thread(this.sample::destroyForcibly);
		Runtime.getRuntime().addShutdownHook(this.hook);
	}

	@AfterEach
	void stop() throws InterruptedException {
		if (this.sample == null) {
			return;
		}
		this.sample.destroy();
		if (!this.sample.waitFor(60, TimeUnit.SECONDS)) {
			this.sample.destroyForcibly().waitFor();
		}
		Runtime.getRuntime().removeShutdownHook(this.hook);
	}

	@Test
	void jobRunsUnderItsLockForAPlannedTime() {
		awaitLogged("Starting AOT-processed SampleApplication");
		awaitLogged("HOLDS +invoice-run \\(token \\d+\\)(?s:.*)WORKS +on the invoice run of \\S+Z, attempt 1"
				+ "(?s:.*)RELEASES +invoice-run");
	}

	private void awaitLogged(String pattern) {
		Awaitility.await().atMost(LONG_ENOUGH).untilAsserted(() -> {
			String logged = Files.readString(this.log);
			assertThat(this.sample.isAlive()).as(logged).isTrue();
			assertThat(logged).containsPattern(pattern);
		});
	}

}
