package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.Lease;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.observation.LockObserver.Activity;
import dev.dblock.observation.LockObserver.Subject;
import dev.dblock.store.LeaseKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the notifications of observers.
 */
@Timeout(300)
class LockObservationsTests {

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofMinutes(1));

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final Diary diary = new Diary();

	private final DefaultLockEngine engine = this.world.newEngine(this.diary);

	private final LockTemplate template = new DefaultLockTemplate(this.engine);

	@AfterEach
	void close() {
		this.world.close();
	}

	@Test
	void followsALockFromTheRequestToTheRelease() {
		LockHandle handle = this.template.acquire("stock", LockOptions.defaults().label("stock-*"));
		this.diary.isExactly("begin ACQUIRE stock", "end ACQUIRE stock ACQUIRED", "begin HOLD stock");
		assertThat(this.diary.last()).isEqualTo(new Subject("stock", "stock-*", handle.token(), 1));
		handle.close();
		this.diary.isExactly("begin ACQUIRE stock", "end ACQUIRE stock ACQUIRED", "begin HOLD stock",
				"begin RELEASE stock", "end RELEASE stock RELEASED", "end HOLD stock RELEASED");
	}

	@Test
	void isNotifiedOfAWaitWithoutConsumingTheWakeUpThatEndsIt() throws Exception {
		AtomicInteger waits = new AtomicInteger();
		CountDownLatch handedOver = new CountDownLatch(1);
		LockTemplate locks = new DefaultLockTemplate(this.world.newEngine((activity, subject) -> {
			if (activity == Activity.WAIT && waits.incrementAndGet() == 2) {
				await(handedOver);
				// Consumes a remaining wake-up
				LockSupport.parkNanos(1_000_000);
			}
			return null;
		}));
		LockOptions patiently = PATIENTLY.waitUpTo(Duration.ofHours(1));
		LockHandle first = locks.acquire("stock");
		Worker<LockHandle> second = Worker.start(() -> locks.acquire("stock", patiently));
		LockWorld.eventually().until(() -> waits.get() == 1);
		Worker<LockHandle> third = Worker.start(() -> locks.acquire("stock", patiently));
		LockWorld.eventually().until(() -> waits.get() == 2);
		first.close();
		second.result().close();
		handedOver.countDown();
		third.result().close();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void isNotifiedOfARefusal() {
		this.world.seize("stock", LockWorld.LEASE);
		assertThat(this.template.tryAcquire("stock")).isEmpty();
		this.diary.isExactly("begin ACQUIRE stock", "end ACQUIRE stock UNAVAILABLE");
	}

	@Test
	void isNotifiedOfAFailureWithItsReason() {
		this.repository.always(Kind.ACQUIRE, Fault.lost(() -> new DataAccessResourceFailureException("no server")));
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> this.template.tryAcquire("stock"));
		assertThat(this.diary.entries()).startsWith("begin ACQUIRE stock")
			.contains("end ACQUIRE stock FAILED DataAccessResourceFailureException");
	}

	@Test
	void isNotifiedOfAWaitAndOfAHandOver() throws Exception {
		LockHandle first = this.template.acquire("stock");
		Worker<LockHandle> second = Worker.start(() -> this.template.acquire("stock", PATIENTLY));
		LockWorld.eventually().until(() -> this.diary.entries().contains("begin WAIT stock"));
		first.close();
		LockHandle handle = second.result();
		LockWorld.eventually()
			.untilAsserted(() -> assertThat(this.diary.entries()).contains("end WAIT stock ACQUIRED",
					"end HOLD stock HANDED_OVER"));
		assertThat(this.diary.entries()).containsOnlyOnce("begin WAIT stock").doesNotContain("begin RELEASE stock");
		handle.close();
		assertThat(this.diary.entries()).contains("end HOLD stock RELEASED");
	}

	@Test
	void isNotifiedOfOneWaitHoweverManyRequestsItTakes() throws Exception {
		LeaseKey other = this.world.seize("stock", Duration.ofHours(1));
		Worker<LockHandle> waiting = Worker.start(() -> this.template.acquire("stock", PATIENTLY));
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "stock") > 5);
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		waiting.result().close();
		assertThat(this.diary.entries()).containsOnlyOnce("begin WAIT stock", "begin ACQUIRE stock");
	}

	@Test
	void isNotifiedOfARenewalAndItsOutcome() {
		LockHandle handle = this.template.acquire("stock");
		handle.renew();
		assertThat(this.diary.entries()).contains("begin RENEW null", "end RENEW null RENEWED");
		this.world.rob("stock");
		assertThat(handle.release()).isFalse();
		LockWorld.eventually()
			.untilAsserted(() -> assertThat(this.diary.entries()).contains("end RELEASE stock LOST",
					"end HOLD stock LOST LockLostException"));
	}

	@Test
	void isNotifiedThatARenewalFoundItsLeaseGone() {
		LockHandle handle = this.template.acquire("stock");
		this.world.rob("stock");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
		LockWorld.eventually()
			.untilAsserted(() -> assertThat(this.diary.entries()).contains("end RENEW null LOST",
					"end HOLD stock LOST LockLostException"));
	}

	@Test
	void endsAHoldOnce() {
		LockHandle handle = this.template.acquire("stock");
		this.engine.close();
		LockWorld.eventually().until(() -> this.diary.entries().contains("end HOLD stock LOST LockLostException"));
		assertThat(handle.release()).isFalse();
		assertThat(this.diary.entries().stream().filter((entry) -> entry.startsWith("end HOLD"))).hasSize(1);
	}

	@Test
	void endsAHoldThatWasOverBeforeItsNotification() {
		WatchedLeases leases = new WatchedLeases();
		Lease lease = leases.hold("stock", LockWorld.LEASE).lease();
		leases.advance(LockWorld.LEASE);
		lease.observedBy(new LockObservations(this.diary).new Hold(
				(outcome, subject, error) -> this.diary.write("end HOLD " + subject.name() + " " + outcome, subject),
				Subject.lock("stock", null, 1)));
		this.diary.isExactly("end HOLD stock LOST");
	}

	@Test
	void endsTheHoldOfAnUnreachableHandleWithItsLease() {
		WatchedLeases leases = new WatchedLeases();
		Lease lease = leases.grant("stock", LockOptions.defaults());
		lease.observedBy(new LockObservations(this.diary).new Hold(
				(outcome, subject, error) -> this.diary.write("end HOLD " + subject.name() + " " + outcome, subject),
				Subject.lock("stock", null, 1)));
		leases.watchdog().watch(lease);
		leases.advance(LockWorld.LEASE.dividedBy(2));
		this.diary.isExactly();
		leases.advance(LockWorld.LEASE.dividedBy(2));
		this.diary.isExactly("end HOLD stock ABANDONED");
	}

	@ParameterizedTest
	@EnumSource(Activity.class)
	void anExceptionOfTheObserverChangesNothing(Activity broken) throws Exception {
		for (boolean atTheEnd : new boolean[] { false, true }) {
			LockTemplate template = new DefaultLockTemplate(this.world.newEngine(new Broken(broken, atTheEnd)));
			LockHandle first = template.acquire("stock");
			Worker<LockHandle> second = Worker.start(() -> template.acquire("stock", PATIENTLY));
			second.awaitWaiting();
			first.renew();
			assertThat(first.release()).isTrue();
			LockHandle handle = second.result();
			assertThat(handle.isHeld()).isTrue();
			assertThat(template.tryAcquire("stock")).isEmpty();
			assertThat(handle.release()).isTrue();
			assertThat(this.repository.isHeld("stock")).isFalse();
		}
	}

	@ParameterizedTest
	@EnumSource(Activity.class)
	void theWatchdogRenewsAfterAnExceptionOfTheObserver(Activity broken) {
		LockTemplate template = new DefaultLockTemplate(this.world.newEngine(new Broken(broken, false)));
		LockHandle handle = template.acquire("stock");
		for (int i = 0; i < 3; i++) {
			this.world.clock().advance(LockWorld.LEASE.dividedBy(2));
			handle.startRenewal();
			LockWorld.eventually().until(() -> handle.remaining().compareTo(LockWorld.LEASE.dividedBy(2)) > 0);
		}
		handle.close();
	}

	@Test
	void unwantedEventsAreNotReported() {
		assertThat(Stream.of(Activity.values()).map((activity) -> LockObserver.NONE.begin(activity, Subject.locks(1))))
			.containsOnlyNulls();
		LockObservations observations = new LockObservations(LockObserver.NONE);
		assertThat(observations.acquiring("stock", null).acquired(1)).isNull();
	}

	private record Broken(Activity activity, boolean atTheEnd) implements LockObserver {

		@Override
		public @Nullable Observed begin(Activity activity, Subject subject) {
			if (activity == this.activity && !this.atTheEnd) {
				throw new NoClassDefFoundError("scripted");
			}
			return (outcome, now, error) -> {
				if (activity == this.activity) {
					throw new IllegalStateException("scripted");
				}
			};
		}

	}

	private static final class Diary implements LockObserver {

		private final List<String> entries = new CopyOnWriteArrayList<>();

		private volatile @Nullable Subject last;

		@Override
		public Observed begin(Activity activity, Subject subject) {
			write("begin " + activity + " " + subject.name(), subject);
			return (outcome, now, error) -> write("end " + activity + " " + now.name() + " " + outcome
					+ ((error != null) ? " " + error.getClass().getSimpleName() : ""), now);
		}

		void write(String entry, Subject subject) {
			this.last = subject;
			this.entries.add(entry);
		}

		List<String> entries() {
			return this.entries;
		}

		@Nullable Subject last() {
			return this.last;
		}

		void isExactly(String... entries) {
			assertThat(this.entries).containsExactly(entries);
		}

	}

}
