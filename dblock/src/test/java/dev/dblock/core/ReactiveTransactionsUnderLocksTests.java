package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.CountDownLatch;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockedAction;
import dev.dblock.LossReason;
import dev.dblock.core.Request.Kind;
import dev.dblock.engine.LockEngine;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.reactive.ReactiveTransactions;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.TransactionFence.Outcome;
import dev.dblock.testing.RecordingReactiveManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;

@Timeout(60)
class ReactiveTransactionsUnderLocksTests {

	private static final Duration LONG = Duration.ofSeconds(50);

	private static final LockOptions UNRENEWED = LockOptions.defaults().autoRenew(false);

	private static final LockOptions HELD_ON = LockOptions.defaults().minHold(LockWorld.LEASE);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final ReactiveLockTemplate locks = new ReactiveLockTemplate(this.world.engine());

	private final ScriptedFence fence = new ScriptedFence();

	private final Manager manager = new Manager();

	private final TransactionalOperator operator = ReactiveTransactions
		.joining(TransactionalOperator.create(this.manager));

	@BeforeEach
	void fence() {
		this.repository.fenceReactive(this.fence);
	}

	@AfterEach
	void close() {
		this.world.close();
	}

	private Mono<String> transaction() {
		return Mono.just("done").as(this.operator::transactional);
	}

	private <T> @Nullable T locked(Mono<T> work) {
		return this.locks.execute("a", () -> work).block(LONG);
	}

	private boolean isHeld() {
		return this.repository.isHeld("a");
	}

	@Test
	void aCommitIsFencedByTheLockAroundIt() {
		assertThat(locked(transaction())).isEqualTo("done");
		assertThat(this.fence.slots()).containsExactly(0);
		assertThat(this.fence.isPrepared()).isTrue();
		assertThat(this.manager.outcomes).containsExactly("commit");
		assertThat(isHeld()).isFalse();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void noMonitorIsHeldWhileATransactionAsksTheStore() {
		List<String> monitors = new CopyOnWriteArrayList<>();
		this.repository.always(Kind.RELEASE, Fault.after(() -> monitors.addAll(Monitors.held())));
		this.locks.execute("a", () -> Mono.just("done")).as(this.operator::transactional).block(LONG);
		assertThat(this.fence.slots()).hasSize(1);
		assertThat(this.fence.monitors()).isEmpty();
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
		assertThat(monitors).isEmpty();
	}

	@Test
	void aSecondTransactionIsFencedInTheSameSlot() {
		assertThat(locked(transaction().then(transaction()))).isEqualTo("done");
		assertThat(this.fence.slots()).containsExactly(0, 0);
	}

	@Test
	void aFenceIsPreparedBeforeTheWork() {
		Boolean prepared = locked(Mono.fromSupplier(this.fence::isPrepared).as(this.operator::transactional));
		assertThat(prepared).isTrue();
	}

	@Test
	void aFenceIsPreparedBesideADisabledLock() {
		ReactiveLockTemplate unlocked = new ReactiveLockTemplate(LockEngine.unlocked(LockWorld.settings("")));
		Mono<Boolean> prepared = Mono.fromSupplier(this.fence::isPrepared).as(this.operator::transactional);
		assertThat(unlocked.execute("none", () -> this.locks.execute("a", () -> prepared)).block(LONG)).isTrue();
	}

	@Test
	void aPoolFullOfTransactionWaitersBlocksNoTransaction() throws Exception {
		CountDownLatch full = new CountDownLatch(Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE);
		CountDownLatch done = new CountDownLatch(1);
		List<Disposable> waiting = new ArrayList<>();
		for (int i = 0; i < Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE; i++) {
			waiting.add(Schedulers.boundedElastic().schedule(() -> await(full, done)));
		}
		try {
			full.await();
			assertThat(this.locks.execute("a", this::transaction).block(Duration.ofSeconds(20))).isEqualTo("done");
			assertThat(this.fence.slots()).containsExactly(0);
			assertThat(isHeld()).isFalse();
		}
		finally {
			done.countDown();
			waiting.forEach(Disposable::dispose);
		}
	}

	private static void await(CountDownLatch full, CountDownLatch done) {
		full.countDown();
		try {
			done.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void aLockInsideIsKeptAndFoundAgainUntilTheEnd() {
		Mono<String> inside = this.locks.execute("a", () -> Mono.just("done"));
		this.manager.atCommit(() -> assertThat(isHeld()).isTrue());
		inside.then(inside).as(this.operator::transactional).block(LONG);
		assertThat(this.fence.slots()).containsExactly(0);
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(1);
		assertThat(isHeld()).isFalse();
		assertThat(this.fence.isPrepared()).as("for transactions to come").isTrue();
	}

	@Test
	void severalLocksInsideAreKeptAndFoundAgainToo() {
		LockEngine both = this.world.template()
			.forAll(Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults()))
			.engine();
		Mono<String> inside = Mono.defer(() -> new ReactiveLockTemplate(
				this.world.template().forAll(Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults())).engine())
			.execute("both", () -> Mono.just("done")));
		this.manager.atCommit(() -> assertThat(isHeld() && this.repository.isHeld("b")).isTrue());
		inside.then(inside)
			.then(new ReactiveLockTemplate(both).execute("both", () -> Mono.just("done")))
			.as(this.operator::transactional)
			.block(LONG);
		assertThat(this.fence.slots()).containsExactly(0, 0);
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(2);
		assertThat(isHeld() || this.repository.isHeld("b")).isFalse();
	}

	@Test
	void aLockInsideThatWasLostRefusesTheCommit() {
		Mono<String> inside = this.locks.execute("a", UNRENEWED, () -> Mono.just("done"),
				(refusal) -> Mono.error(refusal.toException()));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> inside.doOnNext((done) -> this.world.clock().advance(LockWorld.LEASE))
				.as(this.operator::transactional)
				.block(LONG))
			.extracting(LockLostException::reason)
			.isEqualTo(LossReason.EXPIRED);
		assertThat(this.manager.outcomes).containsExactly("rollback");
		assertThat(this.fence.slots()).isEmpty();
	}

	@Test
	void aTransactionUnderALostLockIsRefused() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locked(Mono.defer(() -> {
			this.world.rob("a");
			this.world.advance(LockWorld.LEASE.dividedBy(2));
			LockWorld.eventually().until(() -> this.world.news().contains("lost a TAKEN_OVER"));
			return transaction();
		})));
		assertThat(this.manager.outcomes).containsExactly("rollback");
	}

	@Test
	void aLaterTokenRefusesTheCommit() {
		this.fence.next(Outcome.OVERTAKEN, new IllegalStateException("scripted"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locked(transaction()))
			.extracting(LockLostException::reason)
			.isEqualTo(LossReason.TAKEN_OVER);
		assertThat(this.manager.outcomes).containsExactly("rollback");
		assertThat(this.fence.settled()).as("the next holder sees to that").isEmpty();
	}

	@Test
	void aFenceWithoutAnAnswerIsSettledByTheStore() {
		this.fence.next(Outcome.UNKNOWN, new IllegalArgumentException("no answer"));
		assertThat(locked(transaction().retry(1))).isEqualTo("done");
		assertThat(this.fence.settled()).containsExactly(0);
		assertThat(this.fence.slots()).containsExactly(0, 0);
		assertThat(this.manager.outcomes).containsExactly("rollback", "commit");
	}

	@Test
	void aConflictUnderALockThatIsStillHeldIsThrownAsItIsAndCanBeRepeated() {
		IllegalArgumentException conflict = new IllegalArgumentException("scripted");
		this.fence.next(Outcome.ENDED, conflict);
		assertThatCode(() -> locked(transaction())).isSameAs(conflict);
		this.fence.next(Outcome.ENDED, conflict);
		assertThat(locked(transaction().retry(1))).isEqualTo("done");
		assertThat(this.fence.slots()).containsExactly(0, 0, 0);
		assertThat(this.manager.outcomes).containsExactly("rollback", "rollback", "commit");
	}

	@Test
	void aCommitInDoubtIsSettledByTheStore() {
		this.manager.failCommit();
		assertThat(locked(transaction().retry(1))).isEqualTo("done");
		assertThat(this.fence.settled()).containsExactly(0);
		assertThat(this.fence.slots()).containsExactly(0, 0);
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void aCommitThatStaysInDoubtIsReportedToTheNextHolder() {
		this.manager.failCommit();
		this.fence.failToSettle(true);
		assertThat(locked(transaction().retry(1))).isEqualTo("done");
		assertThat(this.fence.slots()).containsExactly(0, 1);
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.SET);
	}

	@Test
	void aRollbackBeforeTheFenceLeavesItsSlotFree() {
		assertThat(locked(Mono.error(new IllegalStateException("scripted"))
			.as(this.operator::transactional)
			.onErrorComplete()
			.then(transaction()))).isEqualTo("done");
		assertThat(this.fence.slots()).containsExactly(0);
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void aLockThatIsFirstTakenBeforeTheCommitFencesIt() {
		assertThat(
				registered(new OrderedBeforeCommit(this.locks.execute("a", () -> Mono.just("last")))).thenReturn("done")
					.as(this.operator::transactional)
					.block(LONG))
			.isEqualTo("done");
		assertThat(this.fence.slots()).containsExactly(0);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aLockThatIsTakenAfterTheLastLookIsRefused() {
		List<String> done = new CopyOnWriteArrayList<>();
		Mono<String> late = this.locks.execute("a", () -> Mono.fromRunnable(() -> done.add("a")));
		Mono<String> transaction = registered(beforeCommit(late)).thenReturn("done").as(this.operator::transactional);
		assertThatIllegalStateException().isThrownBy(() -> transaction.block(LONG)).withMessageContaining("'a'");
		assertThatIllegalStateException().isThrownBy(() -> this.locks.execute("b", () -> transaction).block(LONG))
			.withMessageContaining("'a'");
		assertThat(this.manager.outcomes).containsExactly("rollback", "rollback");
		assertThat(done).isEmpty();
		assertThat(isHeld()).isFalse();
		this.locks.execute("a", () -> transaction).block(LONG);
		assertThat(done).as("under the lock of the transaction").containsExactly("a");
	}

	@Test
	void noMinimumHoldIsLeftOfALockThatIsTakenAfterTheLastLook() {
		Mono<String> late = locked(HELD_ON, () -> Mono.just("work"));
		Mono<String> transaction = registered(beforeCommit(late)).thenReturn("done").as(this.operator::transactional);
		assertThatIllegalStateException().isThrownBy(() -> this.locks.execute("b", () -> transaction).block(LONG))
			.withMessageContaining("'a'");
		assertThat(this.world.template().tryAcquire("a")).isPresent();
	}

	private <T> Mono<T> locked(LockOptions options, LockedAction<Mono<T>> work) {
		return this.locks.execute("a", options, work, (refusal) -> Mono.error(refusal.toException()));
	}

	private static TransactionSynchronization beforeCommit(Mono<?> work) {
		return new TransactionSynchronization() {

			@Override
			public Mono<Void> beforeCommit(boolean readOnly) {
				return work.then();
			}

		};
	}

	@Test
	void aFailureAfterTheCommitKeepsNoLock() {
		Mono<String> failing = this.locks.execute("a", () -> Mono.just("done"))
			.flatMap((done) -> registered(new TransactionSynchronization() {

				@Override
				public Mono<Void> afterCommit() {
					return Mono.error(new IllegalStateException("scripted"));
				}

			}).thenReturn(done));
		assertThatIllegalStateException().isThrownBy(() -> failing.as(this.operator::transactional).block(LONG));
		assertThat(this.manager.outcomes).containsExactly("commit");
		assertThat(isHeld()).isFalse();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	private static Mono<Void> registered(TransactionSynchronization synchronization) {
		return TransactionSynchronizationManager.forCurrentTransaction()
			.doOnNext((manager) -> manager.registerSynchronization(synchronization))
			.then();
	}

	@Test
	void aReadOnlyTransactionIsNeitherFencedNorRefused() {
		DefaultTransactionDefinition readOnly = new DefaultTransactionDefinition();
		readOnly.setReadOnly(true);
		TransactionalOperator reading = TransactionalOperator.create(this.manager, readOnly);
		assertThat(this.locks
			.execute("a", UNRENEWED, () -> Mono.just("read"), (refusal) -> Mono.error(refusal.toException()))
			.doOnNext((read) -> this.world.clock().advance(LockWorld.LEASE))
			.as(reading::transactional)
			.block(LONG)).isEqualTo("read");
		assertThat(this.fence.slots()).isEmpty();
		assertThat(this.manager.outcomes).containsExactly("commit");
	}

	@Test
	void aTransactionThatEndsAsItsLockComesHasNoWorkUnderIt() {
		LockHandle lock = this.world.template().acquire("a");
		Set<TransactionSynchronization> known = new CopyOnWriteArraySet<>();
		TransactionContext ending = mock(TransactionContext.class);
		given(ending.isActualTransactionActive()).willReturn(true);
		given(ending.getSynchronizations()).willReturn(known).willReturn(known).willReturn(known).willReturn(null);
		assertThatIllegalStateException().isThrownBy(() -> ReactiveTransactions.keep(ending, List.of(lock)))
			.withMessageContaining("'a'");
		assertThat(known).isNotEmpty();
		lock.release();
		assertThat(isHeld()).as("though the end of the transaction is not reported").isFalse();
		known.forEach((joined) -> joined.afterCompletion(TransactionSynchronization.STATUS_ROLLED_BACK).block(LONG));
		assertThat(this.repository.count(Kind.RELEASE, "a")).isEqualTo(1);
	}

	/**
	 * A transaction that is cancelled as a lock joins it, and does not know of the lock.
	 */
	private static TransactionContext cancelling(BaseSubscriber<String> subscriber) {
		Thread caller = Thread.currentThread();
		Set<TransactionSynchronization> known = new CopyOnWriteArraySet<>();
		TransactionContext transaction = mock(TransactionContext.class);
		given(transaction.isActualTransactionActive()).willReturn(true);
		willAnswer((call) -> {
			if (Thread.currentThread() != caller) {
				subscriber.cancel();
			}
			return known;
		}).given(transaction).getSynchronizations();
		return transaction;
	}

	@Test
	void aSequenceThatIsCancelledAsItsLockJoinsReleasesItAndDoesNothing() {
		List<String> done = new CopyOnWriteArrayList<>();
		BaseSubscriber<String> subscriber = new BaseSubscriber<>() {
		};
		locked(HELD_ON, () -> {
			done.add("work");
			return Mono.just("done");
		}).contextWrite(in(cancelling(subscriber))).subscribe(subscriber);
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "a") == 1);
		assertThat(isHeld()).isFalse();
		assertThat(this.repository.peek("a").remaining()).as("what is left of the minimum hold").isZero();
		assertThat(done).isEmpty();
	}

	@Test
	void aTransactionThatIsCancelledAsItJoinsItsLocksLeavesThem() {
		List<String> done = new CopyOnWriteArrayList<>();
		BaseSubscriber<String> subscriber = new BaseSubscriber<>() {
		};
		TransactionContext transaction = cancelling(subscriber);
		this.locks
			.execute("a",
					() -> ReactiveTransactions.join()
						.then(Mono.fromSupplier(() -> "done").doOnNext(done::add))
						.contextWrite(in(transaction)))
			.subscribe(subscriber);
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "a") == 1);
		assertThat(isHeld()).isFalse();
		assertThat(done).isEmpty();
	}

	private static Context in(TransactionContext transaction) {
		return Context.of(TransactionContext.class, transaction);
	}

	@Test
	void aLockThatATransactionHasJoinedTwiceIsLeftTwice() {
		Set<TransactionSynchronization> known = new CopyOnWriteArraySet<>();
		TransactionContext transaction = mock(TransactionContext.class);
		given(transaction.isActualTransactionActive()).willReturn(true);
		given(transaction.getSynchronizations()).willReturn(known);
		LockHandle lock = this.world.template().acquire("a");
		Runnable first = ReactiveTransactions.keep(transaction, List.of(lock));
		Runnable second = ReactiveTransactions.keep(transaction, List.of(lock));
		lock.release();
		first.run();
		assertThat(isHeld()).isTrue();
		second.run();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aContextWithoutATransactionKeepsNothing() {
		LockHandle lock = this.world.template().acquire("a");
		TransactionContext none = mock(TransactionContext.class);
		ReactiveTransactions.keep(none, List.of(lock));
		given(none.isActualTransactionActive()).willReturn(true);
		given(none.getSynchronizations()).willReturn(null);
		ReactiveTransactions.keep(none, List.of(lock));
		assertThat(ReactiveTransactions.kept(none, this.world.engine().id(), "a")).isEmpty();
		lock.release();
		assertThat(this.world.template().inspect("a").filter(LockInfo::held)).isEmpty();
	}

	private record OrderedBeforeCommit(Mono<?> work) implements TransactionSynchronization, Ordered {

		@Override
		public int getOrder() {
			return 0;
		}

		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			return this.work.then();
		}

	}

	private static final class Manager extends RecordingReactiveManager {

		private static final long serialVersionUID = 1L;

		private final transient List<String> outcomes;

		private transient Runnable commit = () -> {
		};

		Manager() {
			this(new CopyOnWriteArrayList<>());
		}

		private Manager(List<String> outcomes) {
			super(outcomes::add);
			this.outcomes = outcomes;
		}

		void atCommit(Runnable commit) {
			this.commit = commit;
		}

		void failCommit() {
			atCommit(() -> {
				atCommit(() -> {
				});
				throw new TransactionSystemException("scripted");
			});
		}

		@Override
		protected Mono<Void> doBegin(TransactionSynchronizationManager manager, Object transaction,
				TransactionDefinition definition) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doCommit(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
			return Mono.<Void>fromRunnable(() -> this.commit.run()).then(super.doCommit(manager, status));
		}

	}

}
