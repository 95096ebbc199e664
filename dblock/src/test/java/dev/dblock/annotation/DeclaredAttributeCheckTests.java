package dev.dblock.annotation;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.CheckedBeans.StrictPlaceholders;
import org.junit.jupiter.api.Test;

import static dev.dblock.annotation.CheckedBeans.findings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the check of the durations and other attributes of {@link DistributedLock}.
 */
class DeclaredAttributeCheckTests {

	private static final String HERE = DeclaredAttributeCheckTests.class.getName() + "$";

	@Test
	void badDurations() {
		assertThat(findings(Durations.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE + "Durations#zero(): The lease must be positive, but is 0s",
				"bean 'bean', " + HERE + "Durations#negative(): The lease must be positive, but is -1s",
				"bean 'bean', " + HERE + "Durations#overflow(): leaseSeconds = 9223372036854775807 is longer than the"
						+ " maximum of 292 years; use a shorter one",
				"bean 'bean', " + HERE + "Durations#tooShort(): A lease of PT1S is too short; the shortest is PT2S",
				"bean 'bean', " + HERE + "Durations#minHold(): The minimum hold PT10M is longer than the lease",
				"bean 'bean', " + HERE
						+ "Durations#waiting(): The wait must not be negative, but is -5s (zero tries once)",
				"bean 'bean', " + HERE
						+ "Durations#both(): both leaseSeconds and leaseString are set; remove one of them",
				"bean 'bean', " + HERE + "Durations#text(): waitString = \"soon\" is not a duration; write 90, 90s,"
						+ " 5m or PT1H (a number without a unit means seconds)");
	}

	@Test
	void brokenPlaceholderInADuration() {
		assertThat(findings(StrictPlaceholders.class, BrokenDuration.class)).singleElement()
			.asString()
			.startsWith(
					"bean 'bean', " + HERE + "BrokenDuration#run(): waitString = \"${nowhere}\" has a placeholder that"
							+ " cannot be resolved: Could not resolve placeholder 'nowhere'")
			.endsWith("; set the property, or give it a default as in ${key:default}");
		assertThat(findings(StrictPlaceholders.class, BrokenDurations.class)).hasSize(2)
			.anyMatch((finding) -> finding.contains("#run(): leaseString = \"soon\" is not a duration; "))
			.anyMatch((finding) -> finding.contains("#run(): waitString = \"${nowhere}\" has a placeholder "));
		assertThat(findings(BrokenDuration.class)).singleElement()
			.asString()
			.contains("#run(): waitString = \"${nowhere}\" has a placeholder that cannot be resolved: '${nowhere}'; ");
	}

	@Test
	void brokenPlaceholderInTheNameOfADatabase() {
		assertThat(findings(StrictPlaceholders.class, BrokenDatabase.class)).singleElement()
			.asString()
			.contains("#run(): databaseFactory = \"${nowhere}\" has a placeholder that cannot be resolved: ");
	}

	static class Durations {

		@DistributedLock(leaseSeconds = 0)
		public void zero() {
		}

		@DistributedLock(leaseSeconds = -1)
		public void negative() {
		}

		@DistributedLock(leaseSeconds = Long.MAX_VALUE)
		public void overflow() {
		}

		@DistributedLock(leaseSeconds = 1)
		public void tooShort() {
		}

		@DistributedLock(minHoldString = "10m")
		public void minHold() {
		}

		@DistributedLock(waitSeconds = -5)
		public void waiting() {
		}

		@DistributedLock(leaseSeconds = 5, leaseString = "5s")
		public void both() {
		}

		@DistributedLock(waitString = "soon")
		public void text() {
		}

	}

	static class BrokenDuration {

		@DistributedLock(waitString = "${nowhere}")
		public void run() {
		}

	}

	static class BrokenDurations {

		@DistributedLock(leaseString = "soon", waitString = "${nowhere}")
		public void run() {
		}

	}

	static class BrokenDatabase {

		@DistributedLock(databaseFactory = "${nowhere}")
		public void run() {
		}

	}

}
