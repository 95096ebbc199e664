package dev.dblock.annotation;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.WhenUnavailable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;

import static dev.dblock.annotation.CheckedBeans.findings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the check of the return types of locked methods.
 */
class ReturnTypeCheckTests {

	private static final String HERE = ReturnTypeCheckTests.class.getName() + "$";

	@Test
	void skipOfAPrimitive() {
		String reason = ": a skipped call could not be distinguished from one that returned a result, because the"
				+ " method returns the primitive int; return an object, or set whenUnavailable = THROW";
		assertThat(findings(Primitive.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE + "Primitive#skipping()" + reason,
				"bean 'bean', " + HERE + "Primitive#scheduled()" + reason);
	}

	@Test
	void asynchronousWork() {
		String reason = " its work continues after the method returns, when the lock is already released; finish the"
				+ " work in the method, return a CompletableFuture or a Mono, or acquire the lock where the work is"
				+ " done";
		assertThat(findings(GoingOn.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE + "GoingOn#future(): with the return type java.util.concurrent.ScheduledFuture"
						+ reason,
				"bean 'bean', " + HERE + "GoingOn#stream(): with the return type java.util.stream.Stream" + reason,
				"bean 'bean', " + HERE + "GoingOn#mono(): with the return type java.util.concurrent.Callable" + reason);
	}

	static class Primitive {

		@DistributedLock(whenUnavailable = WhenUnavailable.SKIP)
		public int skipping() {
			return 1;
		}

		@Scheduled(fixedRate = 1)
		@DistributedLock
		public int scheduled() {
			return 1;
		}

		@DistributedLock
		public int throwing() {
			return 1;
		}

	}

	static class GoingOn {

		@Async
		@DistributedLock
		public ScheduledFuture<String> future() {
			return null;
		}

		@DistributedLock
		public CompletableFuture<Stream<String>> stream() {
			return new CompletableFuture<>();
		}

		@DistributedLock
		public Mono<Callable<String>> mono() {
			return Mono.empty();
		}

		@Async
		@DistributedLock
		public void inTheExecutor() {
		}

	}

}
