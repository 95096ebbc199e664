package dev.dblock.annotation;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import dev.dblock.DistributedLock;
import dev.dblock.LockOptions;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.settings.LockSettings;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static dev.dblock.annotation.CheckedBeans.findings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the check of the permits of {@link DistributedLock}.
 */
class DeclaredPermitsCheckTests {

	private static final String HERE = DeclaredPermitsCheckTests.class.getName() + "$";

	@Test
	void impossibleNumbers() {
		String remedy = " is not a number from 1 to 1000; write how many holders the lock can have at the same time,"
				+ " or remove it for a lock with one holder";
		assertThat(findings(CheckedBeans.StrictPlaceholders.class, Impossible.class)).hasSize(5)
			.contains("bean 'bean', " + HERE + "Impossible#zero(): permits = 0" + remedy,
					"bean 'bean', " + HERE + "Impossible#tooMany(): permits = 1001" + remedy,
					"bean 'bean', " + HERE + "Impossible#text(): permitsString = \"${user.dir:}\", which is '"
							+ System.getProperty("user.dir") + "'," + remedy,
					"bean 'bean', " + HERE
							+ "Impossible#both(): both permits and permitsString are set; remove one of them")
			.anyMatch((finding) -> finding
				.startsWith("bean 'bean', " + HERE + "Impossible#missing(): permitsString = \"${nowhere}\" has a"));
	}

	@Test
	void methodsWithTheSameLockHaveTheSameNumber() {
		assertThat(findings(Contradicting.class)).hasSize(2)
			.anySatisfy((finding) -> assertThat(finding).contains("the lock 'export' has ", "3 permits", "2 permits",
					"Contradicting#two()", "Contradicting#three()",
					"; declare the same number for both, or set it in dblock.locks"))
			.anySatisfy((finding) -> assertThat(finding).contains("the lock 'import' has ", "1 permit", "no permits",
					"Contradicting#plain()", "Contradicting#one()"));
	}

	@Test
	void beansWithTheSameLockHaveTheSameNumber() {
		List<String> findings = CheckedBeans
			.start((context) -> context.registerBean("first", Three.class),
					(context) -> context.registerBean("second", Four.class))
			.findings();
		assertThat(findings).singleElement()
			.asString()
			.contains("the lock 'export' has ", "3 permits", "4 permits", "Three#run()", "Four#run()");
	}

	@Test
	void settingsForTheNameResolveContradictions() {
		assertThat(findings(SetTogether.class, Contradicting.class)).isEmpty();
	}

	@Test
	void settingsForTheNameApplyToMethodsThatRunAgain() {
		assertThat(findings(SetTogether.class, RunningAgain.class)).singleElement()
			.asString()
			.contains("#run(): whenUnavailable = RUN_AGAIN is set, but the lock has permits");
	}

	static class Impossible {

		@DistributedLock(name = "zero", permits = 0)
		public void zero() {
		}

		@DistributedLock(name = "many", permits = 1001)
		public void tooMany() {
		}

		@DistributedLock(name = "text", permitsString = "${user.dir:}")
		public void text() {
		}

		@DistributedLock(name = "missing", permitsString = "${nowhere}")
		public void missing() {
		}

		@DistributedLock(name = "both", permits = 3, permitsString = "3")
		public void both() {
		}

	}

	static class Contradicting {

		@DistributedLock(name = "export", permits = 2)
		public void two() {
		}

		@DistributedLock(name = "export", permitsString = "3")
		public void three() {
		}

		@DistributedLock("import")
		public void plain() {
		}

		@DistributedLock(name = "import", permits = 1)
		public void one() {
		}

		@DistributedLock(name = "import-#{#a0}", permits = 7)
		public void depending(String argument) {
		}

		@DistributedLock(name = "import-#{#a0}")
		public void dependingToo(String argument) {
		}

	}

	static class Three {

		@DistributedLock(name = "export", permits = 3)
		public void run() {
		}

		@DistributedLock(name = "export", permits = 3)
		public void same() {
		}

	}

	static class Four {

		@DistributedLock(name = "export", permits = 4)
		public void run() {
		}

	}

	static class RunningAgain {

		@DistributedLock(name = "export", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		public void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SetTogether extends LockingConfiguration {

		private static final LockSettings SETTINGS = new LockSettings(
				Map.of("export", new LockSettings.Setting(LockOptions.defaults().permits(5), null), "import",
						new LockSettings.Setting(LockOptions.defaults().permits(6), null)));

		@Override
		@Bean
		RecordingEngine engine() {
			return new RecordingEngine() {

				@Override
				public Optional<LockSettings.Setting> setting(String name) {
					return Optional.of(SETTINGS.of(name));
				}

			};
		}

	}

}
