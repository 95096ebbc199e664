package dev.dblock.annotation.invocation;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.core.LockWorld;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.event.Level;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the line about a skipped method.
 */
@ExtendWith(OutputCaptureExtension.class)
class SkipLineTests {

	private static final Instant START = Instant.parse("2026-11-24T02:00:00.123Z");

	private final LockedMethod method = new LockedMethod(ReflectionUtils.findMethod(Invoices.class, "invoice"),
			Invoices.class);

	private static LockInfo info(boolean held) {
		return new LockInfo("nightly-invoices", held, "5f1c", "invoices-7d9f8b6c5d-x2x4z:1:x7f3", "scheduling-1",
				"com.acme.Invoices#invoice", 7, START, START, START, null, Duration.ofMillis(29_500));
	}

	private String line(LockRefusal refusal, CapturedOutput output) {
		UnavailableHandler.Skip.log(Level.INFO, this.method, refusal);
		String line = output.getOut().strip();
		assertThat(line.substring(line.indexOf("Skipped"))).hasSizeLessThan(160).doesNotContain("\n");
		return line.substring(line.indexOf("Skipped"));
	}

	private String line(@Nullable LockInfo holder, CapturedOutput output) {
		return line(new LockRefusal("nightly-invoices", holder, Duration.ZERO), output);
	}

	@Test
	void saysWhoHoldsTheLock(CapturedOutput output) {
		assertThat(line(info(true), output))
			.isEqualTo("Skipped SkipLineTests.Invoices#invoice (lock 'nightly-invoices'):"
					+ " held by invoices-7d9f8b6c5d-x2x4z:1:x7f3 since 2026-11-24T02:00:00Z, for another 29.5 s");
	}

	@Test
	void saysWhoReleasedItWithinItsMinimumHold(CapturedOutput output) {
		assertThat(line(info(false), output))
			.endsWith("(lock 'nightly-invoices'): released by invoices-7d9f8b6c5d-x2x4z:1:x7f3, for another 29.5 s");
	}

	@Test
	void saysHowLongTheCallWaited(CapturedOutput output) {
		assertThat(line(new LockRefusal("nightly-invoices", null, Duration.ofSeconds(5)), output))
			.endsWith("(lock 'nightly-invoices'): not available (waited 5 s)");
	}

	@Test
	void saysWhyARunWasRefused(CapturedOutput output) {
		assertThat(line(new LockRefusal("nightly-invoices", null, Duration.ZERO, null,
				new JobRefusal(JobRefusal.Reason.NOT_DUE, START, null, null, START)), output))
			.endsWith("(lock 'nightly-invoices'): not due before 2026-11-24T02:00:00.123Z");
	}

	@Test
	void saysThatAnEarlierRunIsStillRunning(CapturedOutput output) {
		JobRun last = new JobRun("nightly-invoices", START, 1, START, null, null, "host-1:1:x7f3", 1, null);
		assertThat(line(new LockRefusal("nightly-invoices", null, Duration.ZERO, null,
				new JobRefusal(JobRefusal.Reason.OVERLAPPED, null, last, null, START)), output))
			.isEqualTo("Skipped SkipLineTests.Invoices#invoice (lock 'nightly-invoices'): an earlier run, planned for "
					+ START + ", is still running on host-1:1:x7f3");
	}

	@Test
	void saysThatTheThreadHoldsTheLockItself(CapturedOutput output) {
		try (LockWorld world = new LockWorld()) {
			LockHandle handle = world.template().acquire("nightly-invoices");
			LockRefusal refusal = world.template().<LockRefusal>execute(handle.name(), LockOptions.defaults(), () -> {
				throw new AssertionError("begun");
			}, (refused) -> refused);
			assertThat(line(refusal, output)).contains(
					"(lock 'nightly-invoices'): held by host-1:4711:k7. This thread itself holds it. Run the call in Lock");
			handle.close();
		}
	}

	@Test
	void saysThatAllPermitsAreInUse(CapturedOutput output) {
		LockInfo first = new LockInfo("export", true, "5f1c", "host-1:1:x7f3", "main", "an export", 7, START, START,
				START, null, Duration.ofMillis(29_500), 3);
		assertThat(line(new LockRefusal("export", first, Duration.ZERO).withPermits(3), output))
			.endsWith("(lock 'export'): all 3 permits are in use, one held by host-1:1:x7f3 since 2026-11-24T02:00:00Z,"
					+ " for another 29.5 s");
	}

	@Test
	void isCutWhereNamesAreLong(CapturedOutput output) {
		assertThat(line(new LockRefusal("n".repeat(500), info(true), Duration.ZERO), output)).endsWith("n…");
	}

	static class Invoices {

		void invoice() {
		}

	}

}
