package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.LossReason;
import dev.dblock.core.Request.Kind;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.settings.EngineSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The features of the small lock scripts that this library descends from, each by its
 * name, as far as the engine has them.
 */
@Timeout(300)
class SeedFeaturesTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final LockTemplate locks = this.world.template();

	/** Whose locks are not taken for forgotten. */
	private final List<LockHandle> held = new ArrayList<>();

	@AfterEach
	void close() {
		this.world.close();
	}

	private LockInfo row(String name) {
		return this.locks.inspect(name).orElseThrow();
	}

	@Test
	void acquirerIdentityPerInstance() {
		LockTemplate other = this.world.anotherProcess();
		this.held.add(this.locks.acquire("a"));
		this.held.add(other.acquire("b"));
		assertThat(row("a").acquirer()).isEqualTo("host-1:4711:k7");
		assertThat(row("b").acquirer()).isEqualTo("host-2:815:x1");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> other.acquire("a"))
			.withMessageContaining("held by host-1:4711:k7");
	}

	@Test
	void acquiredAt() {
		Instant now = Instant.ofEpochMilli(this.world.clock().serverMillis());
		this.held.add(this.locks.acquire("a"));
		this.world.advance(SECOND);
		assertThat(row("a").acquiredAt()).isEqualTo(now);
	}

	@Test
	void updatedAt() {
		LockHandle handle = this.locks.acquire("a");
		Instant acquired = row("a").acquiredAt();
		assertThat(row("a").updatedAt()).isEqualTo(acquired);
		this.world.clock().advance(SECOND);
		handle.renew();
		assertThat(row("a").updatedAt()).isEqualTo(acquired.plus(SECOND));
		assertThat(row("a").acquiredAt()).isEqualTo(acquired);
	}

	@Test
	void whyAndThread() {
		this.held.add(this.locks.acquire("a", LockOptions.defaults().why("moving chunks")));
		assertThat(row("a").why()).isEqualTo("moving chunks");
		assertThat(row("a").thread()).isEqualTo(Thread.currentThread().getName());
	}

	@Test
	void acquireAndUnlock() {
		LockHandle handle = this.locks.acquire("a");
		assertThat(row("a").held()).isTrue();
		assertThat(handle.release()).isTrue();
		assertThat(row("a").held()).isFalse();
	}

	@Test
	void lockWithRetryIntervalAndTimeout() throws Exception {
		EngineSettings.Poll retryInterval = new EngineSettings.Poll(Duration.ofMillis(1), Duration.ofMillis(1));
		LockTemplate waiting = new DefaultLockTemplate(
				this.world.newEngine(LockWorld.settings(LockWorld.DEFAULTS, LockWorld.TIMEOUT, retryInterval)));
		this.world.seize("a", Duration.ofHours(1));
		Worker<LockHandle> timesOut = Worker
			.start(() -> waiting.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofSeconds(5))));
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") > 10);
		assertThat(timesOut.isDone()).isFalse();
		this.world.clock().advance(Duration.ofSeconds(5));
		assertThat(timesOut.failure()).isInstanceOf(LockUnavailableException.class)
			.hasMessageContaining("after a wait of 5 s");
	}

	@Test
	void renewByHand() {
		LockHandle handle = this.locks.acquire("a", LockOptions.defaults().autoRenew(false));
		for (int i = 0; i < 10; i++) {
			this.world.clock().advance(Duration.ofSeconds(29));
			handle.renew();
			assertThat(handle.remaining()).isEqualTo(LockWorld.LEASE);
		}
		assertThat(handle.release()).isTrue();
	}

	@Test
	void automaticRenewalCanBeStartedAndStoppedOnAHeldLock() {
		LockHandle handle = this.locks.acquire("a", LockOptions.defaults().autoRenew(false));
		this.world.advance(Duration.ofSeconds(15));
		handle.startRenewal();
		LockWorld.eventually().until(() -> handle.remaining().equals(LockWorld.LEASE));
		handle.stopRenewal();
		this.world.advance(Duration.ofSeconds(15));
		assertThat(handle.remaining()).isEqualTo(Duration.ofSeconds(15));
		this.world.advance(Duration.ofSeconds(15));
		LockWorld.eventually().until(() -> this.world.news().contains("lost a EXPIRED"));
	}

	@Test
	void aRandomOwnerValueIsComparedAtRelease() {
		LockHandle expired = this.locks.acquire("a", LockOptions.defaults().autoRenew(false));
		String owner = row("a").holder();
		this.world.clock().advance(LockWorld.LEASE.plus(SECOND));
		LockHandle successor = this.locks.acquire("a");
		assertThat(row("a").holder()).isNotEqualTo(owner);
		assertThat(expired.release()).isFalse();
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "a") == 1);
		assertThat(this.repository.requests(Kind.RELEASE, "a").get(0).lease().holder()).isEqualTo(owner);
		assertThat(row("a").held()).isTrue();
		assertThat(successor.isHeld()).isTrue();
		assertThat(successor.token()).isGreaterThan(expired.token());
	}

	@Test
	void namePrefix() {
		LockTemplate prefixed = new DefaultLockTemplate(this.world.newEngine(LockWorld.settings("shop:")));
		LockHandle handle = prefixed.acquire("a");
		assertThat(handle.name()).isEqualTo("shop:a");
		assertThat(row("shop:a").held()).isTrue();
		assertThat(this.locks.tryAcquire("a")).isPresent();
	}

	@Test
	void extendOfAHeldLockByADuration() {
		LockHandle handle = this.locks.acquire("a", LockOptions.defaults().autoRenew(false));
		this.world.clock().advance(Duration.ofSeconds(20));
		handle.extend(Duration.ofMinutes(5));
		assertThat(handle.remaining()).isEqualTo(Duration.ofMinutes(5));
		this.world.clock().advance(Duration.ofMinutes(5).minus(SECOND));
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.world.anotherProcess().tryAcquire("a")).isEmpty();
	}

	@Test
	void theRowIsKeptAfterUnlock() {
		LockHandle handle = this.locks.acquire("a");
		handle.close();
		assertThat(row("a").token()).isGreaterThanOrEqualTo(handle.token());
		assertThat(row("a").releasedAt()).isNotNull();
		assertThat(row("a").acquirer()).isEqualTo("host-1:4711:k7");
	}

	@Test
	void takesOverAfterExpiry() {
		this.world.seize("a", LockWorld.LEASE);
		this.world.clock().advance(LockWorld.LEASE);
		assertThat(this.locks.tryAcquire("a")).as("the clock allowance is left").isEmpty();
		this.world.clock().advance(SECOND);
		assertThat(this.locks.tryAcquire("a")).isPresent();
	}

	@Test
	void threeReleaseAttempts() {
		Fault noServer = Fault.lost(() -> new DataAccessResourceFailureException("no server"));
		LockHandle handle = this.locks.acquire("a");
		this.repository.next(Kind.RELEASE, noServer, noServer);
		assertThat(handle.release()).isTrue();
		assertThat(this.repository.count(Kind.RELEASE, "a")).isEqualTo(3);
		assertThat(row("a").held()).isFalse();
	}

	@Test
	void blockingAndNonBlocking() throws Exception {
		LockHandle first = this.locks.acquire("a");
		assertThat(this.locks.tryAcquire("a")).isEmpty();
		Worker<LockHandle> blocking = Worker
			.start(() -> this.locks.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofDays(1))));
		blocking.awaitWaiting();
		assertThat(blocking.isDone()).isFalse();
		first.close();
		assertThat(blocking.result().isHeld()).isTrue();
	}

	@Test
	void reEntry() {
		List<String> done = new ArrayList<>();
		this.locks.execute("a", () -> this.locks.execute("a", () -> done.add("inside")));
		assertThat(done).containsExactly("inside");
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(1);
		assertThat(row("a").held()).isFalse();
	}

	@Test
	void minimumHold() {
		this.locks.acquire("a", LockOptions.defaults().minHold(Duration.ofSeconds(20))).close();
		this.world.clock().advance(Duration.ofSeconds(20).minusMillis(1));
		assertThat(this.locks.tryAcquire("a")).isEmpty();
		this.world.clock().advance(Duration.ofMillis(1));
		assertThat(this.locks.tryAcquire("a")).isPresent();
	}

	@Test
	void maximumHold() {
		LockHandle handle = this.locks.acquire("a", LockOptions.defaults().maxHold(Duration.ofSeconds(60)));
		for (int i = 0; i < 5; i++) {
			this.world.advance(Duration.ofSeconds(11));
			LockWorld.eventually().until(() -> handle.remaining().equals(LockWorld.LEASE));
		}
		this.world.advance(Duration.ofSeconds(11));
		this.world.advance(Duration.ofSeconds(19));
		LockWorld.eventually().until(() -> this.world.news().contains("lost a MAX_HOLD"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::close)
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.MAX_HOLD));
	}

}
