package dev.dblock.scenario;

import java.time.Duration;

import dev.dblock.LockOptions;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A handle that nobody refers to any more.
 */
@MongoServerTest
@ExtendWith(OutputCaptureExtension.class)
class ForgottenHandleTests {

	@Test
	void forgottenLockIsReleasedWithAWarning(MongoServer server, CapturedOutput output) throws Exception {
		try (Instances instances = new Instances(server)) {
			Instance instance = instances.start("forgetful");
			long token = acquireAndForget(instance);
			assertThat(instances.isReleased("stock")).isFalse();
			Instances.eventually().until(() -> {
				System.gc();
				return instances.isReleased("stock");
			});
			assertThat(output.getAll().lines().filter((line) -> line.contains("fencing token " + token)))
				.singleElement()
				.asString()
				.contains("WARN", "'stock'", "was never released");
			assertThat(instance.losses().all()).isEmpty();
			assertThat(instances.start("other").locks().acquire("stock").token()).isGreaterThan(token);
		}
	}

	private static long acquireAndForget(Instance instance) {
		return instance.locks().acquire("stock", LockOptions.lease(Duration.ofMinutes(10))).token();
	}

}
