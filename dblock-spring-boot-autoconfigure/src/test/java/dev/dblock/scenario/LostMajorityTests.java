package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.testing.MongoNode;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A primary that two of three members do not follow any more: it applies what it is sent
 * until it notices, and confirms nothing.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3, fresh = true)
class LostMajorityTests {

	private static final Duration LEASE = Duration.ofSeconds(6);

	private static final Duration CLOCK_ALLOWANCE = Duration.ofSeconds(10);

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(Duration.ofSeconds(120));

	private MongoReplicaSet server;

	private List<MongoNode> followers;

	private ServerTime clock;

	private Instances instances;

	private Instance one;

	private Instance other;

	@BeforeEach
	void start(MongoReplicaSet server) {
		this.server = server;
		MongoNode primary = server.awaitPrimary();
		server.awaitAllSecondaries();
		this.clock = ServerTime.sample(primary);
		this.followers = server.nodes().stream().filter((node) -> node != primary).toList();
		this.instances = new Instances(server);
		this.one = this.instances.start("one", CLOCK_ALLOWANCE);
		this.other = this.instances.start("other", CLOCK_ALLOWANCE);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private void loseMajority() {
		this.followers.forEach(MongoNode::pause);
	}

	private void regainMajority() {
		this.followers.forEach(MongoNode::resume);
		this.server.awaitPrimary();
	}

	@Test
	void acquireIsAnErrorAndKeepsTheNameForOneLeaseAtMost() {
		loseMajority();
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.one.locks().tryAcquire("stock", LockOptions.lease(LEASE)))
			.withMessageContaining("'stock'");
		Instant latest = latestEnd();
		regainMajority();
		assertFreeAt(latest);
		assertThat(this.other.locks().acquire("stock", PATIENT).release()).isTrue();
	}

	@Test
	void healthIsDownFromTheFirstFailureUntilAMajorityConfirmsAGrant() {
		DefaultLockEngine engine = this.one.engine();
		Duration limit = Duration.ofSeconds(3);
		loseMajority();
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.one.locks().tryAcquire("stock", LockOptions.lease(LEASE)));
		assertThat(engine.isFailing()).isTrue();
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> engine.check(limit));
		assertThat(engine.isFailing()).isTrue();
		regainMajority();
		Instances.eventually().ignoreExceptions().until(() -> {
			engine.check(limit);
			return !engine.isFailing();
		});
	}

	/**
	 * The latest end of a lease that began before now.
	 */
	private Instant latestEnd() {
		Duration allowance = CLOCK_ALLOWANCE.plus(LEASE.dividedBy(1000));
		return this.clock.latest(System.nanoTime()).plus(LEASE).plus(allowance);
	}

	private void assertFreeAt(Instant end) {
		Document left = this.instances.document("stock");
		if (left != null && left.containsKey("holder")) {
			assertThat(left.getDate("expiresAt").toInstant()).isBeforeOrEqualTo(end);
		}
	}

	@Test
	void releaseEndsAndKeepsTheNameForTheRestOfTheLeaseAtMost() {
		LockHandle handle = this.one.locks().acquire("stock", LockOptions.lease(LEASE));
		loseMajority();
		Throwable failure = catchThrowable(handle::release);
		Instant latest = latestEnd();
		if (failure != null) {
			assertThat(failure).isInstanceOf(DataAccessException.class).hasMessageContaining("'stock'");
		}
		assertThat(handle.isHeld()).isFalse();
		regainMajority();
		assertFreeAt(latest);
		assertThat(this.other.locks().acquire("stock", PATIENT).token()).isGreaterThan(handle.token());
	}

	@Test
	void waiterHasTheLockOnceThereIsAMajority() throws Exception {
		LockHandle handle = this.one.locks().acquire("stock", LockOptions.lease(Duration.ofMinutes(5)));
		Work<LockHandle> waiter = Work.start(() -> this.other.locks().acquire("stock", PATIENT));
		waiter.awaitWaiting();
		loseMajority();
		long asked = this.other.commands().count("findAndModify");
		Work<LockHandle> late = Work.start(() -> this.other.locks().acquire("late", PATIENT));
		Instances.eventually().until(() -> this.other.commands().count("findAndModify") > asked);
		assertThat(handle.isHeld()).isTrue();
		regainMajority();
		assertThat(late.result().release()).isTrue();
		assertThat(waiter.isDone()).isFalse();
		assertThat(handle.release()).isTrue();
		assertThat(waiter.result().token()).isGreaterThan(handle.token());
	}

	@Test
	void holderWhoseRenewalsAreNotConfirmedLearnsOfItBeforeAnotherIsGranted() throws Exception {
		LockHandle handle = this.one.locks().acquire("stock", LockOptions.lease(LEASE));
		Instant granted = this.instances.instant("stock", "acquiredAt");
		Instances.eventually().until(() -> this.instances.instant("stock", "updatedAt").isAfter(granted));
		Instant free = this.instances.instant("stock", "expiresAt");
		loseMajority();
		Work<LockHandle> waiter = Work.start(() -> this.other.locks().acquire("stock", PATIENT));
		Instances.eventually().until(() -> this.one.losses().of("stock").isPresent());
		Losses.Loss loss = this.one.losses().all().get(0);
		assertThat(loss.reason()).isEqualTo(LossReason.EXPIRED);
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.clock.latest(loss.noticedNanos())).isBefore(free);
		regainMajority();
		assertThat(waiter.result().token()).isGreaterThan(handle.token());
		assertThat(this.instances.instant("stock", "acquiredAt")).isAfter(this.clock.latest(loss.noticedNanos()));
	}

	@Test
	void leaseThatIsLongerThanTheTroubleOutlivesIt() {
		LockHandle handle = this.one.locks().acquire("stock", LockOptions.lease(Duration.ofSeconds(60)));
		Instant granted = this.instances.instant("stock", "updatedAt");
		loseMajority();
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(handle::renew).withMessageContaining("'stock'");
		assertThat(handle.isHeld()).isTrue();
		regainMajority();
		long confirmed = System.nanoTime();
		Instances.eventually()
			.until(() -> this.one.commands().lastDoneNanos("update") > confirmed
					&& this.instances.instant("stock", "updatedAt").isAfter(granted));
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.one.losses().all()).isEmpty();
		assertThat(handle.release()).isTrue();
	}

}
