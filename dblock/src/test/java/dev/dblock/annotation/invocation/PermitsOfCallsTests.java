package dev.dblock.annotation.invocation;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;
import dev.dblock.LockOptions;
import dev.dblock.annotation.LockingConfiguration;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.integration.DblockLockRegistry;
import dev.dblock.reactive.ReactiveLockTemplate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every way to request a lock requests its permits.
 */
class PermitsOfCallsTests {

	private static final LockOptions THREE = LockOptions.defaults().permits(3);

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
			LockingConfiguration.class, Exports.class);

	private final RecordingEngine engine = this.context.getBean(RecordingEngine.class);

	private final DefaultLockTemplate template = new DefaultLockTemplate(this.engine);

	@AfterEach
	void close() {
		this.context.close();
	}

	private void assertRequested(String... names) {
		assertThat(names).allSatisfy((name) -> assertThat(this.engine.optionsOf(name).permits()).isEqualTo(3));
		assertThat(this.engine.events()).contains("unlock " + names[0]);
	}

	@Test
	void annotatedMethods() {
		Exports exports = this.context.getBean(Exports.class);
		exports.blocking();
		exports.future().join();
		exports.mono().block();
		exports.flux().blockLast();
		assertRequested("blocking", "future", "mono", "flux");
		exports.several();
		assertRequested("one-of-two");
		assertThat(this.engine.optionsOf("two-of-two").permits()).isNull();
	}

	@Test
	void templates() {
		this.template.execute("execute", THREE, () -> {
		});
		this.template.executeAsync("async", THREE, () -> CompletableFuture.completedFuture("done"));
		this.template.acquire("acquire", THREE).close();
		this.template.tryAcquire("try", THREE).orElseThrow().close();
		this.template.acquireAll(List.of("a", "b"), THREE).close();
		this.template.executeAll(List.of("c", "d"), THREE, () -> "done");
		assertRequested("execute", "async", "acquire", "try", "a", "b", "c", "d");
	}

	@Test
	void locksOfJava() {
		this.template.asLock("java", THREE).lock();
		this.template.asLock("java", THREE).unlock();
		new DblockLockRegistry(this.template, THREE, "integration:").obtain("key").lock();
		new DblockLockRegistry(this.template, THREE, "integration:").obtain("key").unlock();
		assertRequested("java", "integration:key");
	}

	@Test
	void reactiveTemplates() {
		ReactiveLockTemplate reactive = ReactiveLockTemplate.of(this.template);
		reactive.execute("reactive", THREE, () -> Mono.just("done"), (refusal) -> Mono.empty()).block();
		reactive.executeMany("many", THREE, () -> Flux.just(1, 2), (refusal) -> Flux.empty()).blockLast();
		assertRequested("reactive", "many");
	}

	static class Exports {

		@DistributedLock(name = "blocking", permits = 3)
		public void blocking() {
		}

		@DistributedLock(name = "future", permits = 3)
		public CompletableFuture<String> future() {
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLock(name = "mono", permits = 3)
		public Mono<String> mono() {
			return Mono.just("done");
		}

		@DistributedLock(name = "flux", permits = 3)
		public Flux<String> flux() {
			return Flux.just("done");
		}

		@DistributedLocks({ @DistributedLock(name = "one-of-two", permits = 3), @DistributedLock("two-of-two") })
		public void several() {
		}

	}

}
