package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.core.EngineState.ReleaseNews;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.store.LeaseKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link EngineState}.
 */
@Timeout(300)
class EngineStateTests {

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofMinutes(1));

	private static final LockOptions SHORTER_LEASE = PATIENTLY.withLease(LockWorld.LEASE.dividedBy(2));

	private static final Duration THIRD = LockWorld.LEASE.dividedBy(3);

	private final LockWorld world = new LockWorld();

	private final EngineState state = this.world.engine().state();

	private final WatchedLeases leases = new WatchedLeases();

	@AfterEach
	void close() {
		this.world.close();
	}

	private LockHandle acquire(String name) {
		return acquire(name, LockOptions.defaults());
	}

	private LockHandle acquire(String name, LockOptions options) {
		return this.world.template().acquire(name, options);
	}

	@Test
	void countsHeldLocksAndWaiters() throws Exception {
		assertThat(this.state.held()).isZero();
		LockHandle handle = acquire("a");
		acquire("b");
		assertThat(this.state.held()).isEqualTo(2);
		Worker<LockHandle> waiting = Worker.start(() -> this.world.template().acquire("a", PATIENTLY));
		LockWorld.eventually().until(() -> this.state.waiting() == 1);
		handle.close();
		waiting.result().close();
		assertThat(this.state.waiting()).isZero();
		assertThat(this.state.held()).isEqualTo(1);
	}

	@Test
	void countsWhatMadeWaitersTry() throws Exception {
		LockWorld.awaitReleases(this.world.engine());
		LockHandle handle = acquire("a");
		Worker<LockHandle> waiting = Worker.start(() -> this.world.template().acquire("a", SHORTER_LEASE));
		LockWorld.eventually().until(() -> this.state.waiting() == 1);
		assertThat(attempts()).as("behind its own process").isEmpty();
		handle.close();
		waiting.result().close();
		assertThat(attempts()).containsExactly(WaitCause.SIGNAL);
		acquire("b", PATIENTLY).close();
		assertThat(attempts()).containsExactly(WaitCause.FIRST, WaitCause.SIGNAL);
		assertThat(this.state.attempts(WaitCause.FIRST)).isEqualTo(1);
	}

	private List<WaitCause> attempts() {
		return Stream.of(WaitCause.values()).filter((cause) -> this.state.attempts(cause) > 0).toList();
	}

	@Test
	void countsLossesByTheirReason() {
		LockHandle handle = acquire("a");
		this.world.rob("a");
		assertThat(handle.release()).isFalse();
		assertThat(this.state.lost(LossReason.TAKEN_OVER)).isEqualTo(1);
		acquire("b");
		this.world.engine().close();
		assertThat(this.state.lost(LossReason.SHUTDOWN)).isEqualTo(1);
		assertThat(Stream.of(LossReason.values()).mapToLong(this.state::lost).sum()).isEqualTo(2);
	}

	@Test
	void countsRenewalsThatFailAndThoseThatComeLate() {
		this.leases.hold("a", LockWorld.LEASE);
		this.leases.hold("b", LockWorld.LEASE);
		this.leases.repository()
			.next(Kind.RENEW, Fault.lost(() -> new DataAccessResourceFailureException("no server")));
		LeaseLosses.Statistics statistics = this.leases.losses().statistics();
		this.leases.advanceAndRenew(THIRD);
		assertThat(statistics.notRenewed().sum()).isEqualTo(2);
		assertThat(statistics.renewedLate().sum()).isZero();
		this.leases.advanceAndRenew(THIRD.plusSeconds(1));
		assertThat(statistics.renewedLate().sum()).isEqualTo(2);
		assertThat(this.leases.news()).containsExactlyInAnyOrder("renewed a late, 9 s before its end",
				"renewed b late, 9 s before its end");
		this.leases.advanceAndRenew(THIRD);
		assertThat(statistics.renewedLate().sum()).as("this one was in time").isEqualTo(2);
		assertThat(statistics.notRenewed().sum()).isEqualTo(2);
	}

	@Test
	void aRenewalIsNotLateWithAThirdLeft() {
		this.leases.hold("a", LockWorld.LEASE);
		this.leases.advanceAndRenew(THIRD.multipliedBy(2));
		assertThat(this.leases.losses().statistics().renewedLate().sum()).isZero();
	}

	@Test
	void anOwnerThatRenewsManuallyDecidesWhen() {
		LeaseHandle handle = this.leases.hold("a", LockWorld.LEASE);
		handle.stopRenewal();
		this.leases.clock().advance(THIRD.multipliedBy(2).plusSeconds(1));
		handle.renew();
		assertThat(this.leases.losses().statistics().renewedLate().sum()).isZero();
	}

	@Test
	void theWatchdogIsNotLateWhenThereIsNothingToDo() {
		assertThat(this.state.watchdogDelay()).isZero();
		acquire("a").close();
		LockWorld.eventually().until(() -> this.state.watchdogDelay().isZero());
	}

	@Test
	void aWatchdogThatIsStuckIsLate() throws Exception {
		Gate gate = new Gate();
		LeaseWatchdog[] watchdog = new LeaseWatchdog[1];
		EngineThreads threads = new EngineThreads(this.leases.clock());
		LeaseRegistry registry = new LeaseRegistry((lease) -> {
		});
		watchdog[0] = new LeaseWatchdog(registry, this.leases.losses(), (lease) -> gate.pass(), this.leases::newRenewer,
				threads.watchdog(), threads.renewals(), this.leases.clock());
		watchdog[0].watch(this.leases.grant("a", LockOptions.defaults()));
		watchdog[0].tickWithin(0);
		gate.awaitReached();
		LockWorld.eventually().until(() -> watchdog[0].delay().toMillis() > 10);
		registry.all().forEach(registry::remove);
		gate.open();
		LockWorld.eventually().until(() -> watchdog[0].delay().isZero());
		threads.close();
	}

	@Test
	void showsHowWaitersLearnOfReleases() throws Exception {
		assertThat(this.state.releases()).isEqualTo(ReleaseNews.IDLE);
		LeaseKey other = this.world.seize("a", Duration.ofHours(1));
		Worker<LockHandle> waiting = Worker.start(() -> this.world.template().acquire("a", PATIENTLY));
		LockWorld.eventually().until(() -> this.state.releases() == ReleaseNews.POLL);
		this.world.repository().release(other, Duration.ZERO, LockWorld.TIMEOUT);
		waiting.result().close();
		LockWorld.eventually().until(() -> this.state.releases() == ReleaseNews.IDLE);
	}

	@Test
	void showsThatAStreamReportsReleases() throws Exception {
		this.world.repository().notifyBy(new NotifyingRepository(this.world.repository()));
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""));
		LeaseKey other = this.world.seize("a", Duration.ofHours(1));
		Worker<?> waiting = Worker.start(() -> engine.acquire("a", PATIENTLY));
		LockWorld.eventually().until(() -> engine.state().releases() == ReleaseNews.STREAM);
		this.world.repository().release(other, Duration.ZERO, LockWorld.TIMEOUT);
		engine.parts().signals().close();
		engine.parts().queues().signalAll();
		waiting.result();
	}

}
