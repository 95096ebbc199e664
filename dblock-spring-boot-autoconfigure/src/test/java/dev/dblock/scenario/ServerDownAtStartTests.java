package dev.dblock.scenario;

import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.LockUnavailableException;
import dev.dblock.testing.MongoNode;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application that starts before its server does.
 */
@ExtendWith(OutputCaptureExtension.class)
@MongoServerTest(kind = MongoServerKind.STANDALONE, fresh = true, faults = true)
@SameOnEachJdk
class ServerDownAtStartTests {

	@Test
	void applicationStartsAndItsLocksThrowUntilTheServerIsUp(MongoServer server) throws Exception {
		MongoNode node = server.nodes().get(0);
		node.kill();
		try (Instances instances = new Instances(server)) {
			Counter counter = instances
				.startApplication("early", CounterConfiguration.class, "dblock.mongodb.timeout=2s")
				.getBean(Counter.class);
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(counter::count)
					.isInstanceOfAny(DataAccessResourceFailureException.class, QueryTimeoutException.class)
					.withMessageContaining("'counter'");
			}
			assertThat(counter.runs()).as("runs without the lock").isZero();
			node.restart();
			Instances.eventually().ignoreExceptionsMatching(ServerDownAtStartTests::passes).until(() -> {
				counter.count();
				return true;
			});
			// A busy machine may have released the lock of the first run too late
			assertThat(counter.runs()).isPositive();
			Instances.eventually().until(() -> instances.isReleased("counter"));
		}
	}

	@Test
	void failureIsReportedAtStartAndItsEndToo(MongoServer server, CapturedOutput output) throws Exception {
		MongoNode node = server.nodes().get(0);
		node.kill();
		try (Instances instances = new Instances(server)) {
			HealthIndicator health = instances
				.startApplication("early", CounterConfiguration.class, "dblock.mongodb.timeout=2s",
						"dblock.check-at-startup=true")
				.getBean("dblockHealthIndicator", HealthIndicator.class);
			Instances.eventually().until(() -> output.getOut().contains("No lock can be acquired"));
			assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.health().getDetails()).containsEntry("store", "unreachable");
			node.restart();
			Instances.eventually().until(() -> health.health().getStatus().equals(Status.UP));
			assertThat(output).containsOnlyOnce("No lock can be acquired")
				.containsOnlyOnce("Locks can be acquired again");
		}
	}

	// A lock that a request in doubt has acquired is released in the background
	private static boolean passes(Throwable ex) {
		return ex instanceof DataAccessException || ex instanceof LockUnavailableException;
	}

	static class Counter {

		private final AtomicInteger runs = new AtomicInteger();

		@DistributedLock("counter")
		public void count() {
			this.runs.incrementAndGet();
		}

		public int runs() {
			return this.runs.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class CounterConfiguration {

		@Bean
		Counter counter() {
			return new Counter();
		}

	}

}
