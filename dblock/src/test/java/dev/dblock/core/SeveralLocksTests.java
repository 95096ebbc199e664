package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.core.Request.Kind;
import dev.dblock.engine.HeldLock;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.RepositoryInterruptedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

@Timeout(300)
class SeveralLocksTests {

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(Duration.ofHours(1));

	private static final LockOptions UNRENEWED = LockOptions.defaults().autoRenew(false);

	private static final List<String> BOTH = List.of("b", "a");

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockTemplate locks = this.world.template();

	private final ScriptedTransactions transactions = new ScriptedTransactions();

	@AfterEach
	void close() {
		assertThat(LockContext.current()).isEmpty();
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		this.world.close();
	}

	private List<String> held() {
		return List.of("a", "b", "c").stream().filter(this.repository::isHeld).toList();
	}

	private void assertFree(String name) {
		assertThat(this.world.anotherProcess().tryAcquire(name)).as("another process gets " + name).isPresent();
	}

	@Test
	void areAcquiredInTheOrderOfTheirNamesAndReleasedInTheReverse() {
		try (LockHandles three = this.locks.acquireAll("c", "a", "b", "a")) {
			assertThat(three.handles().keySet()).containsExactly("a", "b", "c");
			assertThat(three.isHeld()).isTrue();
			assertThat(three.remaining()).isPositive();
			three.handles().forEach((name, handle) -> assertThat(three.token(name)).isEqualTo(handle.token()));
			assertThatIllegalArgumentException().isThrownBy(() -> three.token("d"))
				.withMessageContaining("'d'")
				.withMessageContaining("[a, b, c]");
			assertThat(three).hasToString(three.handles().values().toString());
			three.ensureHeld();
		}
		assertThat(this.world.news()).containsExactly("acquired a", "acquired b", "acquired c", "released c",
				"released b", "released a");
	}

	@Test
	void theOrderIsThatOfFullNames() {
		DefaultLockTemplate prefixed = new DefaultLockTemplate(this.world.newEngine(LockWorld.settings("app:")));
		try (LockHandles two = prefixed.acquireAll("b", "a")) {
			assertThat(two.handles().get("a").name()).isEqualTo("app:a");
			assertThat(two.handles().get("b").name()).isEqualTo("app:b");
		}
		assertThat(this.world.news()).startsWith("acquired app:a", "acquired app:b");
	}

	@Test
	void haveThePurposeOfTheCallUnlessTheyHaveTheirOwn() {
		Map<String, LockOptions> own = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults().why("own"));
		this.locks.forAll(own).execute("both", LockOptions.defaults().why("counting"), () -> {
			assertThat(this.repository.peek("a").why()).isEqualTo("counting");
			assertThat(this.repository.peek("b").why()).isEqualTo("own");
		});
	}

	@Test
	void noneIsHeldWhenOneIsRefused() {
		this.world.seize("b", LockWorld.LEASE);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.locks.acquireAll("a", "b", "c"))
			.withMessageContaining("'b' is not available")
			.withMessageContaining("none of which is held for this request now: 'a', 'c'")
			.satisfies((unavailable) -> assertThat(unavailable.name()).isEqualTo("b"));
		assertThat(held()).containsExactly("b");
		assertThat(this.world.news()).containsExactly("acquired a", "unavailable b", "released a");
		assertThat(this.locks.tryAcquireAll("a", "b")).isEmpty();
		assertThat(held()).containsExactly("b");
	}

	@Test
	void areReleasedInTheReverseOrderAfterARefusal() {
		this.world.seize("c", LockWorld.LEASE);
		assertThat(this.locks.tryAcquireAll("a", "b", "c")).isEmpty();
		assertThat(this.world.news()).containsExactly("acquired a", "acquired b", "unavailable c", "released b",
				"released a");
	}

	@Test
	void aTryDoesNotWaitForAsLongAsIsConfigured() {
		DefaultLockTemplate patient = this.world.anotherProcess(PATIENT);
		this.world.seize("b", LockWorld.LEASE);
		assertThat(patient.tryAcquireAll("a", "b")).isEmpty();
	}

	@Test
	void noMinimumHoldIsLeftOfARefusal() {
		this.world.seize("b", LockWorld.LEASE);
		assertThat(this.locks.tryAcquireAll(BOTH, LockOptions.defaults().minHold(LockWorld.LEASE))).isEmpty();
		assertFree("a");
	}

	@Test
	void theMinimumHoldOfAllIsKept() {
		this.locks.acquireAll(BOTH, LockOptions.defaults().minHold(LockWorld.LEASE)).close();
		DefaultLockTemplate other = this.world.anotherProcess();
		assertThat(other.tryAcquire("a")).isEmpty();
		assertThat(other.tryAcquire("b")).isEmpty();
	}

	@Test
	void nothingIsLeftOfARefusalInsideATransaction() {
		this.world.follow(this.transactions);
		this.world.seize("b", LockWorld.LEASE);
		this.transactions.run(() -> {
			assertThat(this.locks.tryAcquireAll(BOTH, LockOptions.defaults())).isEmpty();
			assertFree("a");
		});
		assertThat(this.transactions.outcomes()).containsExactly("commit");
	}

	@Test
	void locksRefusedInsideATransactionCanBeTakenThereLater() {
		this.world.follow(this.transactions);
		LeaseKey other = this.world.seize("b", LockWorld.LEASE);
		this.transactions.run(() -> {
			assertThat(this.locks.tryAcquireAll(BOTH, LockOptions.defaults())).isEmpty();
			this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
			this.locks.executeAll(BOTH, () -> assertThat(held()).containsExactly("a", "b"));
			assertThat(held()).as("until the transaction has ended").containsExactly("a", "b");
		});
		assertThat(held()).isEmpty();
	}

	@Test
	void noneIsHeldWhenAnErrorComesBetween() {
		this.repository.always((request) -> request.kind() == Kind.ACQUIRE && request.isAbout("b"),
				Fault.lost(() -> new DataAccessResourceFailureException("scripted")));
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> this.locks.acquireAll("a", "b"));
		assertThat(held()).isEmpty();
	}

	@Test
	void aReleaseThatFailsHidesNothing() {
		this.world.seize("b", LockWorld.LEASE);
		this.world.failReleases(new DataAccessResourceFailureException("scripted"));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.locks.acquireAll("a", "b"));
	}

	@Test
	void noneIsHeldByAThreadThatIsInterruptedWhileItWaits() throws Exception {
		this.world.seize("b", LockWorld.LEASE);
		Worker<LockHandles> worker = Worker.start(() -> this.locks.acquireAll(BOTH, PATIENT));
		LockWorld.eventually().until(() -> this.repository.isHeld("a"));
		worker.interrupt();
		assertThat(worker.failure()).isInstanceOf(LockInterruptedException.class);
		assertThat(worker.isInterruptedAfterwards()).isTrue();
		assertThat(held()).containsExactly("b");
	}

	@Test
	void aLossThatInterruptsTheWaitIsReportedAsOne() throws Exception {
		this.world.seize("b", LockWorld.LEASE);
		Worker<LockHandles> worker = Worker
			.start(() -> this.locks.acquireAll(BOTH, PATIENT.whenLost(WhenLost.INTERRUPT)));
		LockWorld.eventually().until(() -> this.repository.isHeld("a"));
		worker.awaitWaiting();
		this.world.rob("a");
		this.world.advance(LockWorld.LEASE.dividedBy(2));
		assertThat(worker.failure())
			.isInstanceOfSatisfying(LockLostException.class, (lost) -> assertThat(lost.name()).isEqualTo("a"))
			.satisfies((lost) -> assertThat(lost.getSuppressed())
				.hasAtLeastOneElementOfType(LockInterruptedException.class));
		assertThat(worker.isInterruptedAfterwards()).as("an interrupt of ours").isFalse();
	}

	@Test
	void aLossOfAnOuterLockThatInterruptsTheWaitIsReportedAsOne() throws Exception {
		this.world.seize("b", LockWorld.LEASE);
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		Worker<String> worker = Worker
			.start(() -> this.locks.execute("a", LockOptions.defaults().whenLost(WhenLost.INTERRUPT), () -> {
				thrown.set(catchThrowable(() -> this.locks.acquireAll(BOTH, PATIENT)));
				return "done";
			}));
		LockWorld.eventually().until(() -> this.repository.isHeld("a"));
		worker.awaitWaiting();
		this.world.rob("a");
		this.world.advance(LockWorld.LEASE.dividedBy(2));
		assertThat(worker.failure()).isInstanceOf(LockLostException.class);
		assertThat(thrown.get()).isInstanceOf(LockLostException.class)
			.satisfies((lost) -> assertThat(lost.getSuppressed())
				.hasAtLeastOneElementOfType(LockInterruptedException.class));
		assertThat(worker.isInterruptedAfterwards()).as("an interrupt of ours").isFalse();
	}

	@Test
	void anInterruptOfTheLastRenewalIsReportedAsThatOfTheRequestForTheLocks() {
		this.repository.always((request) -> request.kind() == Kind.RENEW,
				Fault.lost(() -> new RepositoryInterruptedException(new IllegalStateException("scripted"))));
		assertThatExceptionOfType(LockInterruptedException.class)
			.isThrownBy(() -> this.locks.acquireAll(BOTH, UNRENEWED));
		assertThat(held()).isEmpty();
	}

	@Test
	void noneIsHeldWhenOneWasLostWhileAnotherWasAskedFor() {
		this.repository.always((request) -> request.kind() == Kind.ACQUIRE && request.isAbout("b"),
				Fault.after(() -> this.world.clock().advance(LockWorld.LEASE.dividedBy(2))));
		LockOptions shortLived = LockOptions.lease(LockWorld.LEASE.dividedBy(3)).autoRenew(false);
		Map<String, LockOptions> both = Map.of("a", shortLived, "b", LockOptions.defaults());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.acquireAll(both))
			.satisfies((lost) -> assertThat(lost.name()).isEqualTo("a"));
		assertThat(held()).isEmpty();
	}

	@Test
	void noneIsHeldWhenALeaseEndedWhileAnotherWasAskedFor() {
		this.repository.always((request) -> request.kind() == Kind.ACQUIRE && request.isAbout("b"),
				Fault.after(() -> this.world.clock().advance(LockWorld.LEASE.multipliedBy(2))));
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b",
				LockOptions.lease(LockWorld.LEASE.multipliedBy(3)));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.acquireAll(both))
			.satisfies((lost) -> assertThat(lost.name()).isEqualTo("a"));
		assertThat(held()).isEmpty();
	}

	@Test
	void unrenewedLeasesLastWhileAnotherLockIsWaitedFor() throws Exception {
		LeaseKey other = this.world.seize("b", LockWorld.LEASE.multipliedBy(9));
		Worker<Duration> worker = Worker.start(() -> {
			try (LockHandles two = this.locks.acquireAll(BOTH, UNRENEWED.waitUpTo(Duration.ofHours(1)))) {
				return two.remaining();
			}
		});
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "b") > 1);
		this.world.advance(LockWorld.LEASE.dividedBy(2));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RENEW, "a") > 0);
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		assertThat(worker.result()).isEqualTo(LockWorld.LEASE);
	}

	@Test
	void unrenewedLeasesAreNotRenewedDuringTheWork() {
		try (LockHandles two = this.locks.acquireAll(BOTH, UNRENEWED); LockHandle renewed = this.locks.acquire("c")) {
			int before = this.repository.count(Kind.RENEW, "a");
			this.world.advance(LockWorld.LEASE.dividedBy(2));
			LockWorld.eventually().until(() -> renewed.remaining().equals(LockWorld.LEASE));
			assertThat(this.repository.count(Kind.RENEW, "a")).isEqualTo(before);
			assertThat(two.remaining()).isEqualTo(LockWorld.LEASE.dividedBy(2));
		}
	}

	@Test
	void unrenewedLeasesBeginWithTheWork() {
		Duration passed = LockWorld.LEASE.dividedBy(3);
		this.repository.always((request) -> request.kind() == Kind.ACQUIRE && request.isAbout("b"),
				Fault.after(() -> this.world.clock().advance(passed)));
		try (LockHandles two = this.locks.acquireAll(BOTH, UNRENEWED)) {
			assertThat(two.remaining()).isEqualTo(LockWorld.LEASE);
			this.world.advance(LockWorld.LEASE.dividedBy(2));
			assertThat(two.remaining()).as("not renewed any more").isEqualTo(LockWorld.LEASE.dividedBy(2));
		}
	}

	@Test
	void noNamesAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.acquireAll())
			.withMessageContaining("Name at least one");
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.acquireAll("a", " "));
		assertThat(held()).isEmpty();
	}

	@Test
	void eachIsHeldTheWayItsOwnOptionsSay() {
		Map<String, LockOptions> options = new LinkedHashMap<>();
		options.put("b", LockOptions.lease(LockWorld.LEASE.multipliedBy(2)));
		options.put("a", LockOptions.defaults());
		try (LockHandles two = this.locks.acquireAll(options)) {
			assertThat(two.handles().get("a").remaining()).isEqualTo(LockWorld.LEASE);
			assertThat(two.handles().get("b").remaining()).isEqualTo(LockWorld.LEASE.multipliedBy(2));
			assertThat(two.remaining()).isEqualTo(LockWorld.LEASE);
			two.extend(LockWorld.LEASE.multipliedBy(3));
			assertThat(two.remaining()).isEqualTo(LockWorld.LEASE.multipliedBy(3));
		}
	}

	@Test
	void areRenewedTogether() {
		try (LockHandles two = this.locks.acquireAll(BOTH, UNRENEWED)) {
			this.world.clock().advance(LockWorld.LEASE.dividedBy(2));
			two.renew();
			assertThat(two.remaining()).isEqualTo(LockWorld.LEASE);
		}
	}

	@Test
	void aFailedRenewalOfOneDoesNotKeepTheOthersFromTheirs() {
		try (LockHandles two = this.locks.acquireAll(BOTH, UNRENEWED)) {
			this.world.clock().advance(LockWorld.LEASE.dividedBy(2));
			this.repository.always((request) -> request.kind() == Kind.RENEW && request.isAbout("a"),
					Fault.lost(() -> new DataAccessResourceFailureException("scripted")));
			assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(two::renew);
			assertThat(two.handles().get("a").remaining()).isEqualTo(LockWorld.LEASE.dividedBy(2));
			assertThat(two.handles().get("b").remaining()).isEqualTo(LockWorld.LEASE);
			this.world.rob("b");
			assertThatExceptionOfType(LockLostException.class).as("what is worse").isThrownBy(two::renew);
			this.repository.heal();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(two::ensureHeld);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(two::close);
		}
	}

	@Test
	void areLostWhenOneIs() {
		LockHandles two = this.locks.acquireAll("a", "b");
		AtomicInteger notified = new AtomicInteger();
		two.onLost((reason) -> {
			throw new IllegalStateException("scripted");
		});
		two.onLost((reason) -> notified.incrementAndGet());
		this.world.rob("b");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> two.handles().get("b").renew());
		LockWorld.eventually().untilAtomic(notified, (count) -> assertThat(count).isEqualTo(1));
		assertThat(two.isHeld()).isFalse();
		assertThat(two.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(two::ensureHeld);
		assertThat(two.handles().get("a").isHeld()).as("the other is kept while the work goes on").isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(two::close)
			.satisfies((lost) -> assertThat(lost.name()).isEqualTo("b"));
		assertThat(this.repository.isHeld("a")).isFalse();
		two.close();
		assertThat(notified).hasValue(1);
	}

	@Test
	void theLossOfEachIsAmongWhatIsThrown() {
		LockHandles two = this.locks.acquireAll(BOTH, UNRENEWED);
		this.world.clock().advance(LockWorld.LEASE);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(two::close)
			.satisfies(
					(lost) -> assertThat(lost.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
	}

	@Test
	void releaseReturnsWhetherAllWereHeld() {
		LockHandles two = this.locks.acquireAll("a", "b");
		assertThat(two.release()).isTrue();
		assertThat(two.release()).isFalse();
		two.close();
		assertThat(two.isHeld()).isFalse();
		assertThat(two.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(two::ensureHeld)
			.extracting(LockLostException::reason)
			.isEqualTo(LossReason.RELEASED);
		LockHandles robbed = this.locks.acquireAll("a", "b");
		this.world.rob("a");
		assertThat(robbed.release()).isFalse();
		assertThat(held()).containsExactly("a");
	}

	@Test
	void releaseReleasesTheOthersWhenOneFails() {
		LockHandles two = this.locks.acquireAll("a", "b");
		this.repository.always((request) -> request.kind() == Kind.RELEASE && request.isAbout("b"),
				Fault.lost(() -> new DataAccessResourceFailureException("scripted")));
		assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(two::release);
		assertThat(held()).containsExactly("b");
	}

	@Test
	void workUnderSeveralLocksFindsEachOfThem() {
		String result = this.locks.executeAll(BOTH, () -> {
			assertThat(held()).containsExactly("a", "b");
			LockHandle a = LockContext.current("a").orElseThrow();
			LockHandle b = LockContext.current("b").orElseThrow();
			assertThat(MDC.get("dblock.name")).isEqualTo("a, b");
			assertThat(MDC.get("dblock.token")).isEqualTo(a.token() + ", " + b.token());
			this.locks.execute("a", () -> assertThat(MDC.get("dblock.name")).isEqualTo("a"));
			assertThat(MDC.get("dblock.name")).isEqualTo("a, b");
			return "done";
		});
		assertThat(result).isEqualTo("done");
		assertThat(MDC.get("dblock.name")).isNull();
		assertThat(held()).isEmpty();
	}

	@Test
	void workThatCannotHaveAllLocksIsNotBegun() {
		this.world.seize("b", LockWorld.LEASE);
		AtomicInteger begun = new AtomicInteger();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.locks.executeAll(BOTH, LockOptions.defaults(), begun::incrementAndGet));
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		String instead = this.locks.<String>executeAll(both, () -> "work " + begun.incrementAndGet(),
				(refusal) -> "instead of " + refusal.name());
		assertThat(instead).isEqualTo("instead of b");
		this.locks.executeAll(Map.of("a", LockOptions.defaults()), () -> {
			assertThat(held()).containsExactly("a", "b");
		});
		assertThat(begun).hasValue(0);
		assertThat(held()).containsExactly("b");
	}

	@Test
	void aLossOutranksWhatTheWorkThrows() {
		IllegalStateException failure = new IllegalStateException("scripted");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.executeAll(BOTH, () -> {
			this.world.rob("a");
			throw failure;
		})).satisfies((lost) -> assertThat(lost.getSuppressed()).contains(failure));
		assertThat(this.repository.isHeld("b")).isFalse();
	}

	@Test
	void aLockUnderWhichTheThreadWorksIsReentered() {
		this.locks.execute("b", () -> {
			long token = LockContext.current("b").orElseThrow().token();
			this.locks.executeAll(BOTH, () -> {
				assertThat(held()).containsExactly("a", "b");
				assertThat(LockContext.current("b").orElseThrow().token()).isEqualTo(token);
			});
			assertThat(held()).as("released when the inner work ends").containsExactly("b");
			try (LockHandles two = this.locks.acquireAll("a", "b")) {
				assertThat(two.handles().keySet()).containsExactly("a", "b");
				assertThat(two.token("b")).isEqualTo(token);
				assertThat(two.isHeld()).isTrue();
			}
			assertThat(held()).containsExactly("b");
			try (LockHandles one = this.locks.acquireAll("b")) {
				assertThat(one.token("b")).isEqualTo(token);
				assertThat(one.release()).isTrue();
				assertThat(one.isHeld()).isFalse();
			}
			assertThat(held()).containsExactly("b");
		});
		assertThat(held()).isEmpty();
		assertThat(this.repository.count(Kind.ACQUIRE, "b")).isEqualTo(1);
	}

	@Test
	void aReenteredLockIsReleasedByTheOutermostHolder() {
		AtomicReference<LockHandles> kept = new AtomicReference<>();
		this.locks.execute("b", () -> kept.set(this.locks.acquireAll("a", "b")));
		assertThat(kept.get().isHeld()).isTrue();
		assertThat(held()).containsExactly("a", "b");
		kept.get().close();
		assertThat(held()).isEmpty();
	}

	@Test
	void locksThatAreHeldManuallyOrKeptByATransactionEndThere() {
		Lock view = this.locks.asLock("b");
		view.lock();
		LockHandles two = this.locks.acquireAll("a", "b");
		assertThat(two.isHeld()).isTrue();
		view.unlock();
		assertThat(two.isHeld()).isFalse();
		assertThat(held()).containsExactly("a");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(two::close)
			.satisfies((lost) -> assertThat(lost.name()).isEqualTo("b"));
		assertThat(held()).isEmpty();
	}

	@Test
	void aLostLockIsNotReentered() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.execute("b", () -> {
			this.world.rob("b");
			LockContext.current("b")
				.ifPresent((handle) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.acquireAll("a", "b"));
			assertThat(this.repository.isHeld("a")).isFalse();
		}));
	}

	@Test
	void aLockThatATransactionKeepsIsReentered() {
		this.transactions.run(() -> {
			this.locks.execute("b", () -> {
			});
			this.locks.executeAll(BOTH, () -> assertThat(held()).containsExactly("a", "b"));
			assertThat(held()).containsExactly("a", "b");
		});
		assertThat(held()).isEmpty();
		assertThat(this.repository.count(Kind.ACQUIRE, "b")).isEqualTo(1);
	}

	/**
	 * With a wait, it would wait here for the whole hour: the holder of "a" waits for
	 * "b".
	 */
	@Test
	void aNameBeforeAHeldLockIsNotWaitedFor() {
		this.world.seize("a", LockWorld.LEASE);
		this.locks.execute("b",
				() -> assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> this.locks.acquireAll(BOTH, PATIENT))
					.withMessageContaining("'a' is not available")
					.withMessageContaining("The request did not wait, because the thread already runs under 'b'")
					.withMessageContaining("Acquire all of them at once"));
	}

	@Test
	void aNameAfterAHeldLockIsWaitedFor() throws Exception {
		LeaseKey other = this.world.seize("b", LockWorld.LEASE);
		Worker<List<String>> worker = Worker
			.start(() -> this.locks.execute("a", () -> this.locks.executeAll(BOTH, PATIENT, this::held)));
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "b") > 1);
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		assertThat(worker.result()).containsExactly("a", "b");
	}

	/**
	 * Each thread waits for an hour where it waits at all, so that two which wait for
	 * each other are seen by the time limit of this test.
	 */
	@Test
	void threadsThatNameTheSameLocksInAnyOrderDoNotWaitForEachOther() throws Exception {
		List<DefaultLockTemplate> processes = List.of(this.locks, this.world.anotherProcess());
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger done = new AtomicInteger();
		List<Worker<Void>> workers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			DefaultLockTemplate template = processes.get(i % 2);
			List<String> names = List
				.of(List.of("a", "b", "c"), List.of("c", "b", "a"), List.of("b", "c", "a"), List.of("c", "a", "b"))
				.get(i % 4);
			boolean nested = i >= 6;
			workers.add(Worker.start(() -> {
				for (int round = 0; round < 50; round++) {
					if (nested) {
						workNested(template, names, inside, done);
					}
					else {
						work(template, names, inside, done);
					}
				}
				return null;
			}));
		}
		for (Worker<Void> worker : workers) {
			worker.result();
		}
		assertThat(done.get()).isGreaterThanOrEqualTo(6 * 50);
		LockWorld.eventually().untilAsserted(() -> assertThat(held()).isEmpty());
	}

	private static void work(DefaultLockTemplate template, List<String> names, AtomicInteger inside,
			AtomicInteger done) {
		template.executeAll(names, PATIENT, () -> {
			assertThat(inside.incrementAndGet()).isEqualTo(1);
			assertThat(inside.decrementAndGet()).isZero();
			done.incrementAndGet();
		});
	}

	private static void workNested(DefaultLockTemplate template, List<String> names, AtomicInteger inside,
			AtomicInteger done) {
		template.execute("b", PATIENT, () -> {
			try {
				work(template, names, inside, done);
			}
			catch (LockUnavailableException ex) {
				assertThat(ex.name()).isEqualTo("a");
			}
		});
	}

	@Test
	void aRefusalReportsTheWholeWait() {
		this.world.seize("b", LockWorld.LEASE);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.locks.acquireAll(BOTH, LockOptions.defaults().waitUpTo(Duration.ofNanos(1))))
			.withMessageContaining("after a wait of");
	}

	@Test
	void oneLockIsAsGoodAsSeveral() {
		this.world.seize("a", LockWorld.LEASE);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.locks.acquireAll("a"))
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("together"));
		Optional<LockHandles> one = this.locks.tryAcquireAll("b");
		assertThat(one).isPresent();
		assertThat(one.orElseThrow().release()).isTrue();
	}

	@Test
	void aTransactionUnderThemIsFencedByEach() {
		ScriptedFence fence = new ScriptedFence();
		this.world.follow(this.transactions);
		this.repository.fence((manager) -> fence);
		this.locks.acquire("b").release();
		this.locks.executeAll(BOTH, () -> {
			this.transactions.run(() -> {
			});
			assertThat(fence.tokens())
				.containsExactlyInAnyOrder(LockContext.current("a").orElseThrow().token(),
						LockContext.current("b").orElseThrow().token())
				.doesNotHaveDuplicates();
		});
	}

	@Test
	void ongoingWorkKeepsAllOfThem() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		CompletableFuture<String> result = this.locks.forAll(both)
			.<String>executeAsync("both", LockOptions.defaults(), () -> {
				assertThat(LockContext.current("a")).isPresent();
				return work;
			}, (refusal) -> CompletableFuture.failedFuture(refusal.toException()))
			.toCompletableFuture();
		assertThat(held()).containsExactly("a", "b");
		work.complete("done");
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(held()).isEmpty();
	}

	@Test
	void ongoingWorkUnderOneOfThemKeepsThatOne() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		AtomicReference<CompletableFuture<String>> result = new AtomicReference<>();
		this.locks
			.executeAll(BOTH,
					() -> result.set(this.locks
						.<String>executeAsync("a", LockOptions.defaults(), () -> work,
								(refusal) -> CompletableFuture.failedFuture(refusal.toException()))
						.toCompletableFuture()));
		assertThat(held()).containsExactly("a");
		work.complete("done");
		assertThat(result.get().get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(held()).isEmpty();
	}

	@Test
	void aSequenceKeepsAllOfThem() throws Exception {
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		ReactiveLockTemplate reactive = new ReactiveLockTemplate(this.locks.forAll(both).engine());
		ReactiveLockTemplate plain = new ReactiveLockTemplate(this.locks.engine());
		AtomicReference<List<String>> inside = new AtomicReference<>();
		plain.execute("b", () -> reactive.execute("both", () -> ReactiveLockTemplate.current().map((last) -> {
			inside.set(held());
			return last.name();
		}))).as((mono) -> {
			assertThat(mono.block(Duration.ofSeconds(60))).isEqualTo("b");
			return mono;
		});
		assertThat(inside.get()).containsExactly("a", "b");
		LockWorld.eventually().untilAsserted(() -> assertThat(held()).isEmpty());
		assertThat(this.repository.count(Kind.ACQUIRE, "b")).isEqualTo(1);
	}

	@Test
	void aSequenceDoesNotWorkUnderTheLocksAroundAnotherOneOfTheSameTemplate() {
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		ReactiveLockTemplate several = new ReactiveLockTemplate(this.locks.forAll(both).engine());
		ReactiveLockTemplate plain = new ReactiveLockTemplate(this.locks.engine());
		CompletableFuture<Void> otherWorks = new CompletableFuture<>();
		AtomicBoolean first = new AtomicBoolean(true);
		Schedulers.onScheduleHook("first", (task) -> first.getAndSet(false) ? () -> {
			otherWorks.join();
			task.run();
		} : task);
		try {
			CompletableFuture<Throwable> alone = several.execute("both", () -> Mono.just("works"))
				.toFuture()
				.handle((works, failure) -> failure);
			Throwable failure = plain.execute("a", () -> plain.execute("b", () -> several.execute("both", () -> {
				otherWorks.complete(null);
				return Mono.fromFuture(alone);
			}))).block(Duration.ofSeconds(60));
			assertThat(failure).isInstanceOf(LockUnavailableException.class);
		}
		finally {
			Schedulers.resetOnScheduleHook("first");
		}
	}

	private CompletableFuture<String> goOn(DefaultLockTemplate template, CompletableFuture<String> work) {
		return template
			.<String>executeAsync("a", LockOptions.defaults(), () -> work,
					(refusal) -> CompletableFuture.failedFuture(refusal.toException()))
			.toCompletableFuture();
	}

	@Test
	void aReenteredLockIsNotKeptByARefusal() {
		this.world.seize("a", LockWorld.LEASE);
		this.locks.execute("b", () -> assertThat(this.locks.tryAcquireAll(BOTH, LockOptions.defaults())).isEmpty());
		assertThat(held()).containsExactly("a");
	}

	@Test
	void ongoingWorkIsCancelledOnTheLossOfAnyIfOneRequestsIt() {
		CompletableFuture<String> work = new CompletableFuture<>();
		DefaultLockTemplate both = this.locks
			.forAll(Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults().whenLost(WhenLost.INTERRUPT)));
		AtomicReference<LockHandle> handle = new AtomicReference<>();
		CompletableFuture<String> result = both.<String>executeAsync("both", LockOptions.defaults(), () -> {
			handle.set(LockContext.current("a").orElseThrow());
			return work;
		}, (refusal) -> CompletableFuture.failedFuture(refusal.toException())).toCompletableFuture();
		this.world.rob("a");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> handle.get().renew());
		LockWorld.eventually().until(work::isCancelled);
		assertThat(result).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(LockLostException.class);
		LockWorld.eventually().untilAsserted(() -> assertThat(held()).containsExactly("a"));
	}

	@Test
	void theNextWorkOfTheThreadIsUnderNoneOfThem() throws Exception {
		ScriptedFence fence = new ScriptedFence();
		this.world.follow(this.transactions);
		this.repository.fence((manager) -> fence);
		CompletableFuture<String> work = new CompletableFuture<>();
		AtomicReference<CompletableFuture<String>> result = new AtomicReference<>();
		this.locks.executeAll(BOTH, () -> result.set(goOn(this.locks, work)));
		assertThat(held()).containsExactly("a");
		this.transactions.run(() -> {
		});
		assertThat(fence.tokens()).isEmpty();
		work.complete("done");
		assertThat(result.get().get(60, TimeUnit.SECONDS)).isEqualTo("done");
	}

	@Test
	void theNextWorkOfTheThreadIsUnderItsPreviousLocks() throws Exception {
		ScriptedFence fence = new ScriptedFence();
		this.world.follow(this.transactions);
		this.repository.fence((manager) -> fence);
		CompletableFuture<String> work = new CompletableFuture<>();
		AtomicReference<CompletableFuture<String>> result = new AtomicReference<>();
		this.locks.acquire("b").release();
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		this.locks.execute("b", () -> {
			result.set(goOn(this.locks.forAll(both), work));
			this.transactions.run(() -> {
			});
			assertThat(fence.tokens()).containsExactly(LockContext.current("b").orElseThrow().token());
		});
		assertThat(held()).containsExactly("a", "b");
		work.complete("done");
		assertThat(result.get().get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(held()).isEmpty();
	}

	private LockHandle acquireBothAsOne() {
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		LockEngine engine = this.locks.forAll(both).engine();
		LockHandle handle = ((LockEngine.Granted) engine.acquire("both", LockOptions.defaults())).handle();
		((HeldLock) handle).aboutToRelease();
		return handle;
	}

	private CompletableFuture<Void> closing() {
		CompletableFuture<Void> closing = CompletableFuture.runAsync(this.world::closePatiently);
		LockWorld.eventually().until(this::isClosing);
		return closing;
	}

	private boolean isClosing() {
		try {
			this.locks.tryAcquire("c").ifPresent(LockHandle::close);
			return false;
		}
		catch (LockShutdownException ex) {
			return true;
		}
	}

	@Test
	void locksThatAreAboutToBeReleasedAreNotInUseAtShutdown() {
		LockHandle two = acquireBothAsOne();
		CompletableFuture<Void> closing = closing();
		assertThat(two.release()).isTrue();
		assertThat(closing).succeedsWithin(Duration.ofSeconds(60));
		assertThat(held()).isEmpty();
	}

	@Test
	void locksThatTheOuterWorkStillHoldsAreInUseAtShutdown() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.execute("b", () -> {
			LockHandle two = acquireBothAsOne();
			CompletableFuture<Void> closing = closing();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> {
				((LockHandles) two).handles().get("a").close();
				this.world.clock().resumeLimits();
				closing.join();
				two.close();
			});
		})).satisfies((lost) -> {
			assertThat(lost.name()).isEqualTo("b");
			assertThat(lost.reason()).isEqualTo(LossReason.SHUTDOWN);
		});
		assertThat(held()).as("its lease ends it").containsExactly("b");
	}

	@Test
	void theOthersAreRenewedManuallyThoughOneIsKnownToBeLost() {
		LockHandles two = this.locks.acquireAll(List.of("a", "b"), UNRENEWED);
		this.world.rob("a");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(two::renew);
		this.world.clock().advance(Duration.ofSeconds(20));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(two::renew);
		assertThat(two.handles().get("b").remaining()).as("when one cannot be renewed, the others are nevertheless")
			.isEqualTo(LockWorld.LEASE);
	}

	@Test
	void releaseOfSeveralReturnsWhetherTheyWereHeldAsThatOfOneDoes() {
		LockHandle one = this.locks.acquire("c");
		LockHandles two = this.locks.acquireAll("a", "b");
		this.world.clock().suspend(Duration.ofSeconds(5));
		assertThat(one.release()).as("one").isTrue();
		assertThat(two.release()).as("two").isTrue();
	}

}
