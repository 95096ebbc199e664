package dev.dblock;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobRun;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the modules below the jobs work without them.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ModulesTests {

	@Test
	void locksNeedNoJobs(MongoServer server, @TempDir Path folder) throws Exception {
		String database = server.freshDatabase();
		MongoLockRepository repository = new MongoLockRepository(
				new SimpleMongoClientDatabaseFactory(server.client(), database), MongoLockSettings.defaults());
		try (DefaultLockEngine engine = new DefaultLockEngine(repository, EngineSettings.defaults("with"), List.of())) {
			LockTemplate locks = new DefaultLockTemplate(engine);
			LockOptions planned = LockOptions.defaults().claim(JobFiring.at(Instant.now()));
			locks.execute("ran", planned, () -> true);
			try (LockHandle run = locks.acquire("runs", planned)) {
				assertThat(withoutJobs(folder, server.uri(), database)).containsExactly("PIPELINE: true",
						"PIPELINE, of a job: true", "PIPELINE, by force: true", "PIPELINE, lost",
						"PIPELINE, by force: true", "PIPELINE, lost", "PIPELINE, refused", "CLASSIC: true",
						"CLASSIC, of a job: true", "CLASSIC, by force: true", "CLASSIC, lost",
						"CLASSIC, by force: true", "CLASSIC, lost", "CLASSIC, refused", "annotated: report");
				assertThat(JobRun.of(run)).isPresent();
				run.ensureHeld();
			}
		}
	}

	private static List<String> withoutJobs(Path folder, String uri, String database) throws Exception {
		String classPath = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> !entry.contains("dblock-jobs") && !entry.contains(Path.of("jobs", "target").toString()))
			.collect(Collectors.joining(File.pathSeparator));
		assertThat(classPath).isNotEqualTo(System.getProperty("java.class.path"));
		Path output = folder.resolve("output");
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				classPath, WithoutJobs.class.getName(), uri, database)
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		boolean ended = process.waitFor(2, TimeUnit.MINUTES);
		process.destroyForcibly();
		String text = Files.readString(output);
		assertThat(ended).as(text).isTrue();
		assertThat(process.exitValue()).as(text).isZero();
		return text.lines().filter((line) -> line.startsWith("> ")).map((line) -> line.substring(2)).toList();
	}

}
