package dev.dblock.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.LockOptions;
import dev.dblock.core.Request.Kind;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.reactive.ReactiveLockTemplate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks that are granted to a sequence that was cancelled meanwhile.
 */
@Timeout(300)
class UnusedGrantTests {

	private static final LockOptions HELD_ON = LockOptions.defaults().minHold(LockWorld.LEASE);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockTemplate template = this.world.template();

	private final BaseSubscriber<String> subscriber = new BaseSubscriber<>() {
	};

	private final List<String> done = new CopyOnWriteArrayList<>();

	@AfterEach
	void close() {
		this.world.close();
	}

	private void subscribe(DefaultLockTemplate template, String name) {
		new ReactiveLockTemplate(template.engine()).<String>execute(name, HELD_ON, () -> {
			this.done.add("work");
			return Mono.just("done");
		}, (refusal) -> Mono.error(refusal.toException())).subscribe(this.subscriber);
	}

	private void cancelBeforeTheGrantOf(String name) {
		this.repository.always((request) -> request.kind() == Kind.ACQUIRE && request.isAbout(name),
				Fault.before(this.subscriber::cancel));
	}

	private void awaitRelease(String name) {
		LockWorld.eventually()
			.until(() -> this.template.inspect(name).filter((lock) -> lock.releasedAt() != null).isPresent());
		assertThat(this.repository.count(Kind.RELEASE, name)).isEqualTo(1);
		this.repository.heal();
	}

	private boolean isFree(String name) {
		return this.world.anotherProcess().tryAcquire(name).isPresent();
	}

	private Map<String, LockOptions> both() {
		Map<String, LockOptions> both = new LinkedHashMap<>();
		both.put("a", HELD_ON);
		both.put("b", HELD_ON);
		return both;
	}

	@Test
	void noMinimumHoldIsLeftOfAGrantAfterTheCancellation() {
		cancelBeforeTheGrantOf("a");
		subscribe(this.template, "a");
		awaitRelease("a");
		assertThat(isFree("a")).isTrue();
		assertThat(this.done).isEmpty();
	}

	@Test
	void noMinimumHoldIsLeftOfSeveral() {
		cancelBeforeTheGrantOf("b");
		subscribe(this.template.forAll(both()), "both");
		awaitRelease("b");
		awaitRelease("a");
		assertThat(isFree("a")).isTrue();
		assertThat(isFree("b")).isTrue();
		assertThat(this.done).isEmpty();
	}

	@Test
	void theMinimumHoldOfALockAroundThemIsKept() {
		cancelBeforeTheGrantOf("b");
		this.template.execute("a", HELD_ON, () -> {
			subscribe(this.template.forAll(both()), "both");
			awaitRelease("b");
		});
		awaitRelease("a");
		assertThat(isFree("a")).isFalse();
		assertThat(isFree("b")).isTrue();
		assertThat(this.done).isEmpty();
	}

}
