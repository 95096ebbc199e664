package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.core.GivenUpLeases.GivenUp;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobRun;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.store.LeaseKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

import static dev.dblock.core.LockWorld.granted;
import static dev.dblock.core.LockWorld.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests that the network delivers after this process has given them up.
 */
@Timeout(300)
class GivenUpLeasesTests {

	@RegisterExtension
	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockEngine engine = this.world.engine();

	private final Instant planned = Instant.ofEpochMilli(this.world.clock().serverMillis());

	/** The request that is still on its way. */
	private final AtomicReference<Supplier<Object>> late = new AtomicReference<>();

	/**
	 * Give up an acquire, and let it arrive after the releases that followed.
	 * @return the id of the acquisition
	 */
	private String giveUp(LockOptions options) {
		this.repository.next(Kind.ACQUIRE, (request, store) -> {
			this.late.set(store);
			throw Fault.timeout().get();
		});
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> this.engine.acquire("a", options));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "a") > 0);
		return arrive();
	}

	private String arrive() {
		Object unused = this.late.get().get();
		String holder = this.repository.peek("a").holder();
		assertThat(holder).isEqualTo(this.repository.requests(Kind.ACQUIRE, "a").get(0).lease().holder());
		return holder;
	}

	private void assertGranted(LockEngine.Attempt attempt, String late) {
		LockHandle handle = granted(attempt);
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.repository.peek("a").holder()).isEqualTo(((LeaseHandle) handle).key().holder())
			.isNotEqualTo(late);
		handle.close();
	}

	@Test
	void aLateGrantIsReleasedAndTheLockIsRequestedAgain() {
		String late = giveUp(LockOptions.defaults());
		assertGranted(this.engine.acquire("a", LockOptions.defaults()), late);
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(3);
	}

	@Test
	void aReadOfALateGrantIsNoRefusal() {
		LeaseKey other = this.world.seize("b", LockWorld.LEASE);
		refused(this.engine.acquire("b", LockOptions.defaults()));
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		this.repository.next(Kind.ACQUIRE, (request, store) -> {
			this.late.set(store);
			throw Fault.timeout().get();
		});
		int releases = this.repository.count(Kind.RELEASE, "b");
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> this.engine.acquire("b", LockOptions.defaults()));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "b") > releases);
		refusedOnceMore();
		Object unused = this.late.get().get();
		granted(this.engine.acquire("b", LockOptions.defaults())).close();
	}

	/**
	 * Let a short lease of another process refuse the next request, so that the one after
	 * it only reads.
	 */
	private void refusedOnceMore() {
		LeaseKey other = this.world.seize("b", LockWorld.LEASE);
		refused(this.engine.acquire("b", LockOptions.defaults()));
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
	}

	@Test
	void aWaiterIsGrantedTheLockInsteadOfWaitingForItself() throws Exception {
		String late = giveUp(LockOptions.defaults());
		Worker<LockEngine.Attempt> waiter = Worker
			.start(() -> this.engine.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofDays(1))));
		assertGranted(waiter.result(), late);
	}

	@Test
	void aLateGrantThatAReadShowsAfterATimeoutIsNoRefusal() throws Exception {
		giveUp(LockOptions.defaults());
		this.repository.always(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		Worker<LockEngine.Attempt> waiter = Worker
			.start(() -> this.engine.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofSeconds(3))));
		LockWorld.eventually().until(() -> this.repository.count(Kind.FIND, "a") > 0);
		this.world.clock().advance(Duration.ofSeconds(3));
		assertThat(waiter.failure()).isInstanceOf(QueryTimeoutException.class);
	}

	@Test
	void whatCannotBeReleasedIsAnErrorAndNoRefusal() {
		giveUp(LockOptions.defaults());
		this.repository.always(Kind.RELEASE, Fault.NO_SERVER);
		int before = this.repository.count(Kind.ACQUIRE, "a");
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> this.engine.acquire("a", LockOptions.defaults()))
			.withMessageContaining("'a'")
			.withMessageContaining("given up");
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).as("asked once").isEqualTo(before + 1);
	}

	@Test
	void thereMayBeNoTimeLeftToAskAgain() {
		giveUp(LockOptions.defaults());
		this.repository.next(Kind.ACQUIRE, Fault.before(() -> this.world.clock().advance(LockWorld.TIMEOUT)));
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> this.engine.acquire("a", LockOptions.defaults()));
		assertThat(this.repository.isHeld("a")).as("it is released nevertheless").isFalse();
	}

	@Test
	void anotherHolderIsLeftAlone() {
		giveUp(LockOptions.defaults());
		this.world.rob("a");
		LockRefusal refusal = refused(this.engine.acquire("a", LockOptions.defaults()));
		assertThat(refusal.holder()).isNotNull().extracting(LockInfo::holder).asString().startsWith("another-");
		assertThat(this.repository.isHeld("a")).isTrue();
	}

	@Test
	void anotherProcessIsRefused() {
		giveUp(LockOptions.defaults());
		assertThat(this.world.anotherProcess().tryAcquire("a")).isEmpty();
	}

	@Test
	void aLateGrantOfAJobIsAbandonedAndItsPlannedTimeRuns() {
		LockOptions options = LockOptions.defaults().claim(JobFiring.at(this.planned));
		String late = giveUp(options);
		assertThat(runs()).extracting(JobRun::outcome).containsExactly((JobRun.Outcome) null);
		assertGranted(this.engine.acquire("a", options), late);
		assertThat(runs()).extracting(JobRun::outcome).containsExactly(JobRun.Outcome.SUCCEEDED);
	}

	@Test
	void aLateGrantOfAJobThatAPlainCallFindsIsAbandonedAsWell() {
		String late = giveUp(LockOptions.defaults().claim(JobFiring.at(this.planned)));
		assertGranted(this.engine.acquire("a", LockOptions.defaults()), late);
		assertThat(runs()).extracting(JobRun::outcome).containsExactly(JobRun.Outcome.ABANDONED);
	}

	@Test
	void aPlannedTimeIsNotCrashedByALateGrantWhoseLeaseHasEnded() {
		LockOptions options = LockOptions.defaults().claim(JobFiring.at(this.planned));
		String late = giveUp(options);
		this.world.clock().advance(LockWorld.LEASE.multipliedBy(2));
		assertGranted(this.engine.acquire("a", options), late);
		assertThat(runs()).extracting(JobRun::outcome).containsExactly(JobRun.Outcome.SUCCEEDED);
	}

	private List<JobRun> runs() {
		return JobRecords.of(this.repository).find("a", "a").orElseThrow().runs();
	}

	@Test
	void severalLocksAreAllHeld() {
		String late = giveUp(LockOptions.defaults());
		Map<String, LockOptions> both = new LinkedHashMap<>();
		both.put("a", LockOptions.defaults());
		both.put("b", LockOptions.defaults());
		this.world.template().forAll(both).execute("both", LockOptions.defaults(), () -> {
			assertThat(this.repository.peek("a").holder()).isNotEqualTo(late);
			assertThat(this.repository.isHeld("b")).isTrue();
		});
	}

	@Test
	void anAsynchronousCallIsGrantedTheLock() throws Exception {
		giveUp(LockOptions.defaults());
		Callable<Optional<LockHandle>> call = () -> this.world.template().tryAcquire("a");
		assertThat(Worker.start(call).result()).isPresent();
	}

	@Test
	void aLockWhoseReleaseFailedIsReleasedByTheNextRequest() {
		LockHandle handle = granted(this.engine.acquire("a", LockOptions.defaults()));
		String id = this.repository.peek("a").holder();
		this.repository.always(Kind.RELEASE, Fault.NO_SERVER);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(handle::release);
		this.repository.heal();
		assertGranted(this.engine.acquire("a", LockOptions.defaults()), id);
	}

	@Test
	void itsMinimumHoldIsKept() {
		LockHandle handle = granted(this.engine.acquire("a", LockOptions.defaults().minHold(Duration.ofSeconds(20))));
		this.repository.always(Kind.RELEASE, Fault.NO_SERVER);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(handle::release);
		this.repository.heal();
		assertThat(refused(this.engine.acquire("a", LockOptions.defaults())).holder()).isNotNull()
			.satisfies((lock) -> assertThat(lock.held()).isFalse())
			.satisfies((lock) -> assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(20)));
	}

	@Test
	void aLockInDoubtIsReleasedAgainAndAgainWhileItsLeaseWouldLast() {
		ManualScheduler timer = new ManualScheduler();
		LeaseReleaser releaser = new LeaseReleaser(this.repository, new LockObservations(LockObserver.NONE),
				this.world.clock(), LockWorld.TIMEOUT, timer, Runnable::run);
		releaser.releaseDoubtful(new LeaseKey("a", "id"), LeaseDeadline.from(this.world.clock(), LockWorld.LEASE),
				Duration.ofMillis(1250), null);
		StringBuilder pauses = new StringBuilder();
		while (!timer.pending().isEmpty()) {
			Duration pause = timer.pending().get(0).delay();
			pauses.append(pause.toMillis()).append(' ');
			this.world.clock().advance(pause);
			timer.runNext();
		}
		assertThat(pauses).hasToString("1250 2500 5000 10000 20000 ");
		assertThat(this.repository.count(Kind.RELEASE, "a")).as("the last one is not sent").isEqualTo(5);
	}

	@Test
	void onceItWasTheHolderItIsNotReleasedAgain() {
		ManualScheduler timer = new ManualScheduler();
		LeaseReleaser releaser = new LeaseReleaser(this.repository, new LockObservations(LockObserver.NONE),
				this.world.clock(), LockWorld.TIMEOUT, timer, Runnable::run);
		LeaseKey key = this.world.seize("a", LockWorld.LEASE);
		releaser.releaseDoubtful(key, LeaseDeadline.from(this.world.clock(), LockWorld.LEASE), LockWorld.TIMEOUT, null);
		assertThat(this.repository.isHeld("a")).isFalse();
		timer.runNext();
		assertThat(timer.pending()).isEmpty();
		assertThat(this.repository.count(Kind.RELEASE, "a")).isEqualTo(1);
	}

	@Test
	void theOldestAreForgottenWhenThereAreTooMany() {
		GivenUpLeases leases = new GivenUpLeases(this.world.clock());
		for (int i = 0; i < GivenUpLeases.MOST + 100; i++) {
			leases.remember(lease(i));
		}
		assertThat(leases.size()).isEqualTo(GivenUpLeases.MOST);
		assertThat(leases.contains(lease(99))).isFalse();
		assertThat(leases.contains(lease(100))).isTrue();
	}

	@Test
	void theyAreForgottenWhenTheirRequestsCanNoLongerArrive() {
		GivenUpLeases leases = new GivenUpLeases(this.world.clock());
		leases.remember(lease(1));
		this.world.clock().advance(LockWorld.LEASE.plus(GivenUpLeases.LONGEST_DELIVERY));
		leases.remember(lease(2));
		assertThat(leases.contains(lease(1))).isTrue();
		this.world.clock().advance(Duration.ofNanos(1));
		leases.remember(lease(3));
		assertThat(leases.contains(lease(1))).isFalse();
		leases.forget(lease(2));
		assertThat(leases.size()).isEqualTo(1);
	}

	private GivenUp lease(int number) {
		return new GivenUp(new LeaseKey("a", "id-" + number), LeaseDeadline.from(this.world.clock(), LockWorld.LEASE),
				LockWorld.TIMEOUT, (limit) -> false);
	}

}
