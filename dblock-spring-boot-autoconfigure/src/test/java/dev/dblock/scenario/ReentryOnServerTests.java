package dev.dblock.scenario;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockUnavailableException;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A lock with a short lease that is re-entered for longer, and another instance that
 * waits for it.
 */
@Timeout(300)
@MongoServerTest
class ReentryOnServerTests {

	private static final LockOptions BRIEFLY = LockOptions.lease(Duration.ofSeconds(5)).autoRenew(false);

	private static final Duration WHOLE_LEASE = Duration.ofMinutes(10);

	private Instances instances;

	private Instance instance;

	private Instance other;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.instance = this.instances.start("reentrant");
		this.other = this.instances.start("other");
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	@Test
	void lockThatIsLockedAgainForLongerIsHeldForLonger() {
		this.instance.locks().execute("stock", BRIEFLY, () -> {
			Lock lock = this.instance.locks().asLock("stock", LockOptions.lease(WHOLE_LEASE));
			lock.lock();
			try {
				assertHeldOnTheServer();
			}
			finally {
				lock.unlock();
			}
		});
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertThat(this.instance.losses().all()).isEmpty();
	}

	@Test
	void lockThatIsLockedAgainByACallThatRenewsIsRenewed() {
		Lock outer = this.instance.locks().asLock("stock", BRIEFLY);
		Lock inner = this.instance.locks().asLock("stock", BRIEFLY.autoRenew(true));
		outer.lock();
		inner.lock();
		long renewals = this.instance.commands().count("update");
		Instances.eventually().until(() -> this.instance.commands().count("update") >= renewals + 2);
		assertThat(this.other.locks().tryAcquire("stock")).isEmpty();
		inner.unlock();
		outer.unlock();
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void lockThatTheThreadHoldsByAHandleIsRefusedWithoutAWaitOrARequest() {
		LockOptions patient = LockOptions.defaults().waitUpTo(WHOLE_LEASE);
		try (LockHandle handle = this.instance.locks().acquire("stock")) {
			long requests = this.instance.commands().count("findAndModify");
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.instance.locks().execute("stock", patient, () -> "done"))
				.withMessageContaining(ReentryOnServerTests.class.getName())
				.withMessageContaining("LockTemplate.within(handle, ...)");
			assertThat(this.instance.commands().count("findAndModify")).isEqualTo(requests);
			assertThat(handle.isHeld()).isTrue();
		}
		assertThat(this.instance.locks().<String>execute("stock", patient, () -> "done")).isEqualTo("done");
	}

	/**
	 * Beyond the end of the outer lease by the server's clock.
	 */
	private void assertHeldOnTheServer() {
		LockHandle handle = LockContext.current("stock").orElseThrow();
		assertThat(handle.remaining()).isGreaterThan(WHOLE_LEASE.dividedBy(2));
		assertThat(this.instances.instant("stock", "expiresAt"))
			.isAfter(this.instances.instant("stock", "acquiredAt").plus(WHOLE_LEASE.dividedBy(2)));
		Optional<LockHandle> taken = this.other.locks().tryAcquire("stock");
		assertThat(taken).isEmpty();
	}

}
