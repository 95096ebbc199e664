package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.TransactionFence;
import dev.dblock.store.TransactionFence.Outcome;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.SimpleTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(30)
class LockTransactionsTests {

	private static final LockOptions UNRENEWED = LockOptions.defaults().autoRenew(false);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final LockTemplate locks = this.world.template();

	/** Whose locks are not taken for forgotten. */
	private final List<LockHandle> held = new ArrayList<>();

	private final ScriptedFence fence = new ScriptedFence();

	private final ScriptedTransactions transactions = new ScriptedTransactions();

	private final ScriptedTransactions unfenced = new ScriptedTransactions();

	@BeforeEach
	void follow() {
		this.world.follow(this.transactions);
		this.world.follow(this.unfenced);
		this.repository.fence((manager) -> (manager == this.transactions) ? this.fence : null);
	}

	@AfterEach
	void close() {
		this.world.close();
	}

	private boolean isHeld() {
		return this.repository.isHeld("a");
	}

	private void runNested(int depth, Runnable work) {
		if (depth == 0) {
			work.run();
		}
		else {
			this.transactions.runNew(() -> runNested(depth - 1, work));
		}
	}

	private static void assertLost(LossReason reason, ThrowingCallable work) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(work)
			.extracting(LockLostException::reason)
			.isEqualTo(reason);
	}

	@Test
	void aCommitIsFencedByTheLockAroundIt() {
		LockHandle lock = this.locks.acquire("a");
		this.transactions.run(() -> assertThat(this.fence.tokens()).isEmpty());
		assertThat(this.fence.tokens()).containsExactly(lock.token());
		assertThat(this.transactions.outcomes()).containsExactly("commit");
	}

	@Test
	void aCommitIsFencedByAllLocksOfItsThread() {
		LockHandle outer = this.locks.acquire("a");
		this.locks.execute("b", () -> this.transactions.run(() -> this.locks.execute("c", () -> {
		})));
		assertThat(this.fence.tokens()).hasSize(3).contains(outer.token());
	}

	@Test
	void aCommitWithoutALockIsNotFenced() throws Exception {
		assertThat(Worker.start(() -> this.locks.acquire("a")).result().isHeld()).isTrue();
		this.transactions.run(() -> {
		});
		assertThat(this.fence.tokens()).as("the lock of another thread").isEmpty();
		this.locks.execute("b", () -> {
		});
		this.transactions.run(() -> {
		});
		assertThat(this.fence.tokens()).as("a lock of before").isEmpty();
	}

	@Test
	void aReadOnlyTransactionIsNeitherFencedNorRefused() {
		LockHandle lock = this.locks.acquire("a", UNRENEWED);
		this.transactions.run(TransactionDefinition.PROPAGATION_REQUIRED, true, () -> {
			this.world.clock().advance(LockWorld.LEASE);
			assertThat(lock.isHeld()).isFalse();
		});
		assertThat(this.transactions.outcomes()).containsExactly("commit");
		assertThat(this.fence.tokens()).isEmpty();
	}

	@Test
	void aCommitElsewhereIsRefusedWhenTheLeaseIsOver() {
		this.held.add(this.locks.acquire("a", UNRENEWED));
		assertLost(LossReason.EXPIRED, () -> this.unfenced.run(() -> this.world.clock().advance(LockWorld.LEASE)));
		assertThat(this.unfenced.outcomes()).containsExactly("rollback");
		assertThat(this.fence.tokens()).isEmpty();
	}

	@Test
	void aCommitThatBeganUnderALostLockIsRefusedUntilTheHandleIsClosed() {
		LockHandle lock = this.locks.acquire("a", UNRENEWED);
		this.world.clock().advance(LockWorld.LEASE);
		this.world.look();
		LockWorld.eventually().until(() -> this.world.news().contains("lost a EXPIRED"));
		assertLost(LossReason.EXPIRED, () -> this.transactions.run(() -> {
		}));
		assertLost(LossReason.EXPIRED, () -> this.unfenced.run(() -> {
		}));
		lock.release();
		this.transactions.run(() -> {
		});
		assertThat(this.transactions.outcomes()).containsExactly("rollback", "commit");
		assertThat(this.fence.tokens()).isEmpty();
	}

	@Test
	void theWorkOfALostLockIsNotCommittedEither() {
		assertLost(LossReason.EXPIRED, () -> this.locks.execute("a", UNRENEWED, () -> {
			this.world.clock().advance(LockWorld.LEASE);
			this.world.look();
			this.transactions.run(() -> {
			});
		}));
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
	}

	@Test
	void aLaterTokenRefusesTheCommit() {
		this.held.add(this.locks.acquire("a"));
		this.fence.next(Outcome.OVERTAKEN, new IllegalStateException("scripted"));
		assertLost(LossReason.TAKEN_OVER, () -> this.transactions.run(() -> {
		}));
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
		LockWorld.eventually().until(() -> this.world.news().contains("lost a TAKEN_OVER"));
	}

	@Test
	void aConflictUnderALockThatIsStillHeldIsThrownAsItIs() {
		LockHandle lock = this.locks.acquire("a");
		IllegalArgumentException conflict = new IllegalArgumentException("scripted");
		this.fence.next(Outcome.ENDED, conflict);
		assertThatCode(() -> this.transactions.run(() -> {
		})).isSameAs(conflict);
		assertThat(lock.isHeld()).isTrue();
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).as("the store says that the first is over").containsExactly(0, 0);
		assertThat(this.transactions.outcomes()).containsExactly("rollback", "commit");
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void aTransactionHasItsSlotUntilItsOutcomeIsKnown() {
		this.held.add(this.locks.acquire("a"));
		this.transactions.run(() -> {
			this.transactions.runNew(() -> {
			});
			this.transactions.runNew(() -> this.transactions.runNew(() -> {
			}));
		});
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(1, 2, 1, 0, 0);
	}

	@Test
	void aFifthTransactionAtATimeIsRefused() {
		this.held.add(this.locks.acquire("a"));
		runNested(4, () -> assertThatIllegalStateException().isThrownBy(() -> this.transactions.runNew(() -> {
		})).withMessageContaining("'a'").withMessageContaining("4 others"));
		assertThat(this.transactions.outcomes()).containsExactly("rollback", "commit", "commit", "commit", "commit");
		assertThat(this.fence.slots()).containsExactly(3, 2, 1, 0);
	}

	@Test
	void transactionsThatAreNotFencedNeedNoSlot() {
		this.held.add(this.locks.acquire("a"));
		runNested(4, () -> {
			this.transactions.run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, true, () -> {
			});
			this.unfenced.run(() -> {
			});
		});
		assertThat(this.transactions.outcomes()).hasSize(5).containsOnly("commit");
		assertThat(this.unfenced.outcomes()).containsExactly("commit");
	}

	@Test
	void transactionsOfOneThreadUnderTwoLocksHaveSlotsOfBoth() {
		this.held.add(this.locks.acquire("a"));
		this.held.add(this.locks.acquire("b"));
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0, 0);
	}

	@Test
	void anUnknownOutcomeRetiresTheSlotAndIsPassedToTheNextHolder() {
		LockHandle lock = this.locks.acquire("a");
		this.transactions.failCommits(new IllegalStateException("no answer"));
		assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> this.transactions.run(() -> {
		}));
		this.transactions.atCommit(() -> {
		});
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0, 1);
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.SET);
	}

	@Test
	void slotsOfUnknownOutcomesAreUsedAgainOnceTheyAreSettled() {
		this.locks.acquire("a");
		this.transactions.failCommits(new IllegalStateException("no answer"));
		for (int i = 0; i < TransactionFence.SLOTS; i++) {
			assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> this.transactions.run(() -> {
			}));
		}
		this.transactions.atCommit(() -> {
		});
		this.fence.failToSettle(true);
		assertThatIllegalStateException().isThrownBy(() -> this.transactions.run(() -> {
		}));
		this.fence.failToSettle(false);
		this.transactions.run(() -> {
		});
		assertThat(this.fence.settled()).as("at both attempts").containsExactly(0, 1, 2, 3, 0, 1, 2, 3);
		assertThat(this.fence.slots()).containsExactly(0, 1, 2, 3, 0);
	}

	@Test
	void aLockWhoseTransactionHasAnUnknownOutcomeIsNotHandedOver() throws Exception {
		LockHandle lock = this.locks.acquire("a");
		this.transactions.failCommits(new IllegalStateException("no answer"));
		assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> this.transactions.run(() -> {
		}));
		Worker<LockHandle> waiter = waiter();
		lock.release();
		assertThat(waiter.result().isHeld()).isTrue();
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(2);
	}

	@Test
	void aFailedCommitThatTheStoreHasEndedLeavesItsSlotFree() {
		LockHandle lock = this.locks.acquire("a");
		this.fence.endedByFailures();
		this.transactions.failCommits(null);
		assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> this.transactions.run(() -> {
		}));
		this.transactions.atCommit(() -> {
		});
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0, 0);
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void aRollbackBeforeTheFenceLeavesItsSlotFree() {
		LockHandle lock = this.locks.acquire("a");
		assertThatIllegalStateException().isThrownBy(() -> this.transactions.run(() -> {
			throw new IllegalStateException("scripted");
		}));
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0);
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void aRollbackAfterTheFenceIsNotProvenToHaveHappened() {
		LockHandle lock = this.locks.acquire("a");
		this.fence.next(TransactionFence.Written.DONE);
		this.fence.next(Outcome.UNKNOWN, new IllegalArgumentException("no answer"));
		this.held.add(this.locks.acquire("b"));
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> this.transactions.run(() -> {
		}));
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.SET);
	}

	@Test
	void aLossUnderOneLockLeavesTheOutcomeUnderTheOtherOpen() {
		List<LockHandle> handles = List.of(this.locks.acquire("a"), this.locks.acquire("b"));
		this.fence.next(TransactionFence.Written.DONE);
		this.fence.next(new TransactionFence.Written(Outcome.OVERTAKEN, null));
		assertLost(LossReason.TAKEN_OVER, () -> this.transactions.run(() -> {
		}));
		LockHandle left = handles.stream().filter(LockHandle::isHeld).findFirst().orElseThrow();
		left.release();
		assertThat(this.repository.fenceMark(left.name())).isEqualTo(FenceMark.SET);
	}

	@Test
	void aHandleClosedDuringItsTransactionIsReleasedAfterIt() {
		LockHandle lock = this.locks.acquire("a");
		this.transactions.atCommit(() -> assertThat(isHeld()).isTrue());
		this.transactions.run(() -> {
			assertThat(lock.release()).isTrue();
			assertThat(isHeld()).isTrue();
			assertThat(lock.isHeld()).isTrue();
			this.transactions.runNew(() -> assertThat(isHeld()).isTrue());
			assertThat(isHeld()).as("one is still open").isTrue();
		});
		assertThat(isHeld()).isFalse();
		assertThat(this.fence.tokens()).containsExactly(lock.token(), lock.token());
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
		assertThat(this.world.news()).containsExactly("acquired a", "released a");
	}

	@Test
	void aHandleClosedDuringATransactionElsewhereIsReleasedAfterIt() {
		LockHandle lock = this.locks.acquire("a");
		this.unfenced.run(() -> {
			lock.close();
			assertThat(isHeld()).isTrue();
		});
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aLockIsHandedOverWhenItsLastTransactionHasEnded() throws Exception {
		LockHandle lock = this.locks.acquire("a");
		Worker<LockHandle> waiter = waiter();
		this.transactions.run(() -> {
			lock.release();
			assertThat(waiter.isDone()).isFalse();
			assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(1);
		});
		assertThat(waiter.result().token()).isEqualTo(lock.token() + 1);
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(1);
	}

	private Worker<LockHandle> waiter() {
		Worker<LockHandle> waiter = Worker
			.start(() -> this.locks.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofSeconds(20))));
		LockWorld.eventually().until(() -> {
			LocalQueue queue = this.world.engine().parts().queues().find("a");
			return queue != null && queue.waiters() == 1;
		});
		return waiter;
	}

	@Test
	void aLockThatWasLostDuringItsTransactionIsReleasedAfterIt() {
		LockHandle lock = this.locks.acquire("a", UNRENEWED);
		assertLost(LossReason.EXPIRED, () -> this.transactions.run(() -> {
			this.world.clock().advance(LockWorld.LEASE);
			assertThat(lock.release()).isFalse();
			assertThat(this.repository.count(Kind.RELEASE)).isZero();
		}));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE) == 1);
	}

	@Test
	void anUnreachableHandleIsHeldUntilItsTransactionHasEnded() {
		assertThat(this.locks.acquire("a").isHeld()).isTrue();
		this.transactions.run(() -> {
			System.gc();
			this.world.look();
			assertThat(isHeld()).isTrue();
		});
		assertThat(this.transactions.outcomes()).containsExactly("commit");
		LockWorld.eventually().until(() -> {
			System.gc();
			this.world.advance(LockWorld.LEASE.dividedBy(3));
			return !isHeld();
		});
	}

	@Test
	void aLockTakenInsideIsFencedAndReleasedAfterTheTransaction() {
		this.transactions.run(() -> {
			this.locks.execute("a", () -> {
			});
			assertThat(isHeld()).isTrue();
		});
		assertThat(this.fence.slots()).containsExactly(0);
		assertThat(isHeld()).isFalse();
		assertThat(this.world.news()).containsExactly("acquired a", "released a");
	}

	@Test
	void aLockTakenInsideDoesNotConcernASuspendedTransaction() {
		this.transactions.run(() -> {
			this.transactions.runNew(() -> this.locks.execute("a", () -> {
			}));
			assertThat(isHeld()).isFalse();
			assertThat(this.fence.slots()).hasSize(1);
		});
		assertThat(this.fence.slots()).hasSize(1);
	}

	@Test
	void aLockTakenInsideDoesNotConcernTheTransactionOfAnotherManagerAround() {
		this.transactions.run(() -> {
			this.unfenced.run(() -> this.locks.execute("a", () -> {
			}));
			assertThat(isHeld()).isFalse();
			this.unfenced.run(() -> this.locks.execute("a", () -> {
			}));
		});
		assertThat(this.fence.slots()).isEmpty();
	}

	@Test
	void aLockThatIsKeptAfterItsHandleWasClosedIsEnteredAgain() {
		LockHandle lock = this.locks.acquire("a");
		this.transactions.run(() -> {
			lock.close();
			this.transactions.runNew(() -> this.locks.execute("a", () -> {
			}));
			this.locks.execute("a", () -> assertThat(isHeld()).isTrue());
			assertThat(this.world.engine().keptByTransaction("b")).isEmpty();
			assertThat(isHeld()).isTrue();
		});
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(1);
		assertThat(isHeld()).isFalse();
		this.locks.execute("a", () -> assertThat(isHeld()).isTrue());
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(2);
	}

	@Test
	void aLockWhoseHandleIsOpenIsNotEnteredThroughItsTransaction() {
		this.held.add(this.locks.acquire("a"));
		this.transactions.run(() -> assertThat(this.world.engine().keptByTransaction("a")).isEmpty());
	}

	@Test
	void anInnerTransactionIsUnderALockThatTheOuterOneKeeps() {
		this.transactions.run(() -> {
			this.locks.execute("a", () -> {
			});
			this.transactions.runNew(() -> this.locks.execute("a", () -> {
			}));
			assertThat(this.fence.slots()).hasSize(1);
			assertThat(isHeld()).isTrue();
		});
		assertThat(this.fence.slots()).containsExactly(1, 0);
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aManagerWithoutSynchronizationIsFollowedAllTheSame() {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		this.held.add(this.locks.acquire("a"));
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0);
	}

	@Test
	void aTransactionThatDoesNotBeginConcernsNoLock() {
		LockHandle lock = this.locks.acquire("a");
		this.transactions.failToBegin();
		assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> this.transactions.run(() -> {
		}));
		lock.release();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void joinFailureSurfacesAtCommit() {
		LockHandle lock = this.locks.acquire("a");
		IllegalArgumentException failure = new IllegalArgumentException("scripted");
		this.repository.fence((manager) -> {
			throw failure;
		});
		List<String> work = new ArrayList<>();
		assertThatCode(() -> this.transactions.run(() -> work.add("done"))).isSameAs(failure);
		assertThat(work).hasSize(1);
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
		lock.release();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aTransactionThatAnotherThreadEndsSetsItsLocksFree() throws Exception {
		Collection<TransactionExecutionListener> listeners = this.transactions.getTransactionExecutionListeners();
		LockHandle lock = this.locks.acquire("a");
		SimpleTransactionStatus outer = new SimpleTransactionStatus();
		listeners.forEach((listener) -> listener.afterBegin(outer, null));
		lock.release();
		assertThat(isHeld()).isTrue();
		CompletableFuture.runAsync(() -> listeners.forEach((listener) -> listener.afterCommit(outer, null))).get();
		assertThat(isHeld()).isFalse();
		this.transactions.run(() -> this.locks.execute("b", () -> {
		}));
		assertThat(this.fence.slots()).hasSize(1);
	}

	@Test
	void aSavepointIsNoTransactionOfItsOwn() {
		Collection<TransactionExecutionListener> listeners = this.transactions.getTransactionExecutionListeners();
		this.held.add(this.locks.acquire("a"));
		SimpleTransactionStatus savepoint = new SimpleTransactionStatus(false);
		for (TransactionExecutionListener listener : listeners) {
			listener.afterBegin(savepoint, null);
			listener.beforeCommit(savepoint);
			listener.afterCommit(savepoint, null);
			listener.afterRollback(savepoint, null);
		}
		assertThat(this.fence.slots()).isEmpty();
	}

	@Test
	void theLocksOfAllProcessesOfAnApplicationCount() {
		this.held.add(this.locks.acquire("a"));
		this.world.anotherProcess().acquire("b");
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0, 0);
	}

	@Test
	void aReleaseThatFailsAfterTheTransactionChangesNothing() {
		LockHandle lock = this.locks.acquire("a");
		this.world.failReleases(new IllegalStateException("no server"));
		this.transactions.run(lock::close);
		assertThat(this.transactions.outcomes()).containsExactly("commit");
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(3);
	}

	private void async(String name) {
		this.locks.<String>executeAsync(name, LockOptions.defaults(), () -> CompletableFuture.completedFuture("done"),
				(refusal) -> {
					throw refusal.toException();
				});
	}

	@Test
	void anInnerTransactionIsUnderALockOfAFutureThatTheOuterOneKeeps() {
		this.transactions.run(() -> {
			async("a");
			assertThat(this.repository.isHeld("a")).isTrue();
			this.transactions.runNew(() -> this.locks.execute("a", () -> {
			}));
			assertThat(this.fence.slots()).as("fences of the inner transaction").hasSize(1);
		});
	}

	@Test
	void anInnerTransactionIsNotCommittedOnceTheLockThatItReenteredIsLost() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.transactions.run(() -> {
			async("a");
			this.transactions.runNew(() -> this.locks.execute("a", () -> {
				this.world.rob("a");
				this.world.advance(Duration.ofSeconds(31));
			}));
		}));
		assertThat(this.transactions.outcomes()).containsExactly("rollback", "rollback");
	}

	@Test
	void newTransactionIsNotUnderALockThatItCouldNotEnter() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.transactions.run(() -> {
			this.locks.execute("a", UNRENEWED, () -> {
			});
			this.world.advance(LockWorld.LEASE);
			LockWorld.eventually().until(() -> this.world.news().contains("lost a EXPIRED"));
			this.transactions.runNew(() -> assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.locks.execute("a", () -> {
				})));
			this.transactions.outcomes().add("inner returned");
		}));
		assertThat(this.transactions.outcomes()).containsExactly("commit", "inner returned", "rollback");
	}

}
