package dev.dblock.integration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.core.LockWorld;
import dev.dblock.core.Worker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The contract of Spring Integration's registries of locks.
 */
@Timeout(300)
class DblockLockRegistryTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final String NAME = "integration:foo";

	private final LockWorld world = new LockWorld();

	private final LockTemplate template = this.world.template();

	private final DblockLockRegistry registry = new DblockLockRegistry(this.template);

	private final DblockLockRegistry6 registry6 = new DblockLockRegistry6(this.template);

	private final DistributedLock lock = this.registry.obtain("foo");

	@AfterEach
	void close() {
		this.world.close();
	}

	private boolean isHeld() {
		return this.template.inspect(NAME).filter(LockInfo::held).isPresent();
	}

	private LockHandle handle() {
		return LockContext.current(NAME).orElseThrow();
	}

	private void lose() {
		LockHandle handle = handle();
		this.world.rob(NAME);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
	}

	private enum Role {

		LEADER {

			@Override
			public String toString() {
				return "something that may change";
			}

		}

	}

	@Test
	void obtainsLocksByKey() throws Exception {
		this.lock.lock();
		assertThat(isHeld()).isTrue();
		assertThat(this.registry.obtain("foo")).isEqualTo(this.lock).hasSameHashCodeAs(this.lock);
		assertThat(this.registry.obtain("bar")).isNotEqualTo(this.lock);
		assertThat(this.lock).asString().contains(NAME);
		assertThat(Worker.start(() -> this.registry.obtain("foo").tryLock(0, TimeUnit.MILLISECONDS)).result())
			.isFalse();
		assertThat(Worker.start(() -> this.registry6.obtain("foo").tryLock()).result()).isFalse();
		this.lock.unlock();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void keysReadTheSameInEveryProcess() {
		UUID uuid = UUID.randomUUID();
		List.of("text", 4711, uuid, Role.LEADER).forEach((key) -> {
			this.registry.obtain(key).lock();
			this.registry.obtain(key).unlock();
		});
		assertThat(this.template.listAll("", 1000).locks()).extracting(LockInfo::name)
			.containsExactlyInAnyOrder("integration:text", "integration:4711", "integration:" + uuid,
					"integration:LEADER");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain(new Object()))
			.withMessageContaining("whose text is the same in every process")
			.withMessageContaining("java.lang.Object");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain(null)).withMessageContaining("null");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry6.obtain(new int[0]));
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain("x".repeat(1001)));
	}

	@Test
	void isReentrant() throws Exception {
		this.lock.lock();
		this.registry.obtain("foo").lockInterruptibly();
		assertThat(this.lock.tryLock()).isTrue();
		assertThat(this.lock.tryLock(Duration.ZERO, LEASE)).isTrue();
		for (int i = 0; i < 3; i++) {
			this.lock.unlock();
		}
		assertThat(isHeld()).isTrue();
		this.lock.unlock();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aLostLeaseIsNotReenteredAndShowsAtUnlock() throws Exception {
		this.lock.lock();
		lose();
		assertThat(this.lock.tryLock(1, TimeUnit.HOURS)).isFalse();
		assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(this.lock::unlock);
	}

	@Test
	void aStrangerCannotUnlock() throws Exception {
		this.lock.lock();
		assertThat(Worker.start(() -> {
			this.lock.unlock();
			return null;
		}).failure()).isInstanceOf(IllegalStateException.class).hasMessageContaining("does not own it");
		this.lock.unlock();
		assertThatIllegalStateException().isThrownBy(this.lock::unlock);
		assertThatIllegalStateException().isThrownBy(this.registry6.obtain("foo")::unlock);
	}

	@Test
	void lastsForTheGivenTime() throws Exception {
		this.lock.lock(LEASE.multipliedBy(2));
		assertThat(handle().remaining()).isEqualTo(LEASE.multipliedBy(2));
		this.lock.unlock();
		assertThat(this.lock.tryLock(Duration.ofHours(1), LEASE.multipliedBy(3))).isTrue();
		assertThat(handle().remaining()).isEqualTo(LEASE.multipliedBy(3));
		this.lock.unlock();
		this.world.rob(NAME);
		assertThat(this.lock.tryLock(Duration.ZERO, LEASE)).isFalse();
	}

	@Test
	void isRenewed() {
		DblockLockRegistry unrenewed = new DblockLockRegistry(this.template, LockOptions.defaults().autoRenew(false),
				"integration:");
		unrenewed.obtain("foo").lock();
		this.world.clock().advance(LEASE.dividedBy(2));
		unrenewed.renewLock("foo");
		assertThat(handle().remaining()).isEqualTo(LEASE);
		this.registry6.renewLock("foo", LEASE.multipliedBy(2));
		assertThat(handle().remaining()).isEqualTo(LEASE.multipliedBy(2));
		this.registry.renewLock("foo", LEASE.multipliedBy(3));
		assertThat(handle().remaining()).isEqualTo(LEASE.multipliedBy(3));
		this.registry6.renewLock("foo");
		lose();
		assertThatIllegalStateException().isThrownBy(() -> this.registry.renewLock("foo"))
			.withCauseInstanceOf(LockLostException.class);
		assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(this.lock::unlock);
		assertThatIllegalStateException().isThrownBy(() -> this.registry.renewLock("foo"))
			.withMessageContaining("does not own it");
	}

	@Test
	void isRenewedInTheBackgroundWithoutAScheduler() {
		try (SimpleAsyncTaskScheduler unused = new SimpleAsyncTaskScheduler()) {
			this.registry.setRenewalTaskScheduler(unused);
			this.registry6.setRenewalTaskScheduler(unused);
		}
		this.lock.lock();
		LockHandle handle = handle();
		for (int i = 0; i < 4; i++) {
			this.world.advance(LEASE.dividedBy(2));
			LockWorld.eventually().until(() -> handle.remaining().compareTo(LEASE.dividedBy(2)) > 0);
		}
		this.lock.unlock();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void keepsNothingOfLocksThatAreNotHeld() {
		this.lock.lock();
		this.registry.expireUnusedOlderThan(0);
		this.registry6.expireUnusedOlderThan(0);
		assertThat(this.registry.obtain("foo").tryLock()).as("what is held is not expired").isTrue();
		this.lock.unlock();
		this.lock.unlock();
		assertThat(this.registry).hasToString("locks of dblock named 'integration:*'");
		assertThat(this.registry6).hasToString(this.registry.toString());
	}

	@Test
	void executesLocked() throws Exception {
		List<String> done = new ArrayList<>();
		this.registry.executeLocked("foo", () -> {
			assertThat(isHeld()).isTrue();
			done.add("work");
		});
		this.world.rob(NAME);
		LockRegistry<?> any = this.registry;
		assertThatExceptionOfType(TimeoutException.class)
			.isThrownBy(() -> any.executeLocked("foo", Duration.ZERO, () -> done.add("more")));
		assertThat(done).containsExactly("work");
	}

	@Test
	void hasPlaceForSeveral() {
		DblockLockRegistry other = new DblockLockRegistry(this.template, LockOptions.defaults(), "other:");
		Lock foo = other.obtain("foo");
		foo.lock();
		assertThat(isHeld()).isFalse();
		assertThat(foo).isNotEqualTo(this.lock);
		foo.unlock();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new DblockLockRegistry(this.template, LockOptions.lease(Duration.ofMillis(1)), "other:"));
	}

}
