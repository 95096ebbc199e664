package dev.dblock.scenario;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;

import dev.dblock.LockOptions;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lock whose handle became unreachable, while its work may still be running.
 */
@MongoServerTest
@ExtendWith(OutputCaptureExtension.class)
class ForgottenHandleTests {

	@Test
	void lockOfAnUnreachableHandleEndsWithItsLease(MongoServer server, CapturedOutput output) throws Exception {
		try (Instances instances = new Instances(server)) {
			Instance instance = instances.start("forgetful");
			Instance other = instances.start("other");
			long token = acquireAndForget(instance);
			Instances.eventually().until(() -> {
				System.gc();
				return output.getAll().contains("was never released");
			});
			assertThat(output.getAll().lines().filter((line) -> line.contains("was never released"))).singleElement()
				.asString()
				.contains("WARN", "'stock'", "fencing token " + token, "it is not released now",
						"LockHandle.keepUntilShutdown()");
			assertThat(instances.isReleased("stock")).isFalse();
			Instant end = instances.instant("stock", "expiresAt");
			LockOptions patient = LockOptions.defaults().waitUpTo(Duration.ofMinutes(2));
			assertThat(other.locks().acquire("stock", patient).token()).isGreaterThan(token);
			assertThat(instances.instant("stock", "acquiredAt")).isAfterOrEqualTo(end);
		}
	}

	@Test
	void lockThatIsKeptUntilShutdownIsReleasedThen(MongoServer server, CapturedOutput output) throws Exception {
		try (Instances instances = new Instances(server)) {
			Instance leader = instances.start("leader");
			leader.locks().acquire("leader").keepUntilShutdown();
			WeakReference<Object> garbage = new WeakReference<>(new Object());
			Instances.eventually().until(() -> {
				System.gc();
				return garbage.get() == null;
			});
			assertThat(instances.isReleased("leader")).isFalse();
			leader.close();
			assertThat(instances.isReleased("leader")).isTrue();
			assertThat(leader.losses().all()).isEmpty();
			assertThat(output).doesNotContain("was never released").doesNotContain("while its work still holds");
		}
	}

	/**
	 * The lease outlasts the pauses of a busy machine: one that is lost before the
	 * collector runs is not reported as forgotten.
	 */
	private static long acquireAndForget(Instance instance) {
		return instance.locks().acquire("stock", LockOptions.lease(Duration.ofSeconds(15))).token();
	}

}
