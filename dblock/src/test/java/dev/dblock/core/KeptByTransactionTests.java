package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.LossReason;
import dev.dblock.core.Request.Kind;
import dev.dblock.execution.DefaultLockTemplate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(300)
class KeptByTransactionTests {

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final LockTemplate locks = this.world.template();

	private final ScriptedTransactions transactions = new ScriptedTransactions();

	@AfterEach
	void close() {
		assertThat(TransactionSynchronizationManager.getResourceMap()).as("nothing stays bound to the thread")
			.isEmpty();
		this.world.close();
	}

	private void inTransaction(Runnable work) {
		inTransaction(TransactionDefinition.PROPAGATION_REQUIRED, work);
	}

	private void inTransaction(int propagation, Runnable work) {
		TransactionTemplate template = new TransactionTemplate(this.transactions);
		template.setPropagationBehavior(propagation);
		template.executeWithoutResult((status) -> work.run());
	}

	private boolean isHeld() {
		return this.repository.isHeld("a");
	}

	private void lockedWork() {
		this.locks.execute("a", () -> assertThat(isHeld()).isTrue());
	}

	@Test
	void withoutATransactionALockEndsWithItsWork() {
		lockedWork();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aLockTakenInsideATransactionIsReleasedAfterItsCommit() {
		this.transactions.atCommit(() -> assertThat(isHeld()).isTrue());
		inTransaction(() -> {
			lockedWork();
			assertThat(isHeld()).as("after the work, before the commit").isTrue();
			assertThat(this.world.news()).containsExactly("acquired a");
		});
		assertThat(this.transactions.outcomes()).containsExactly("commit");
		assertThat(isHeld()).isFalse();
		assertThat(this.world.news()).containsExactly("acquired a", "released a");
	}

	@Test
	void aLockTakenInsideATransactionIsReleasedAfterItsRollback() {
		assertThatThrownBy(() -> inTransaction(() -> {
			lockedWork();
			assertThat(isHeld()).isTrue();
			throw new IllegalStateException("scripted");
		})).isInstanceOf(IllegalStateException.class);
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aReleaseAtTheMomentOfTheCommitReturnsThatTheLockWasHeld() {
		CyclicBarrier together = new CyclicBarrier(2);
		for (int i = 0; i < 300; i++) {
			inTransaction(() -> {
				LockHandle handle = this.locks.acquire("a");
				TransactionSynchronization kept = TransactionSynchronizationManager.getSynchronizations().get(0);
				Worker<Integer> completing = Worker.start(() -> {
					int first = together.await();
					kept.afterCompletion(TransactionSynchronization.STATUS_COMMITTED);
					return first;
				});
				assertThatNoException().isThrownBy(together::await);
				assertThat(handle.release()).isTrue();
				assertThatNoException().isThrownBy(completing::result);
				assertThat(isHeld()).isFalse();
			});
		}
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(300);
	}

	@Test
	void aLockTakenBeforeTheTransactionIsNotKeptByIt() {
		this.locks.execute("a", () -> inTransaction(() -> {
		}));
		assertThat(isHeld()).isFalse();
	}

	@Test
	void synchronizationWithoutATransactionKeepsNothing() {
		inTransaction(TransactionDefinition.PROPAGATION_SUPPORTS, () -> {
			lockedWork();
			assertThat(isHeld()).isFalse();
		});
	}

	@Test
	void aTransactionWithoutSynchronizationKeepsNothing() {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		inTransaction(() -> {
			lockedWork();
			assertThat(isHeld()).isFalse();
		});
	}

	@Test
	void reEntryAfterTheFirstWorkEndedButBeforeTheCommit() {
		inTransaction(() -> {
			lockedWork();
			lockedWork();
			assertThat(isHeld()).isTrue();
		});
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void anotherThreadDoesNotReEnterWhatATransactionKeeps() {
		inTransaction(() -> {
			lockedWork();
			Worker<Boolean> other = Worker.start(() -> {
				lockedWork();
				return true;
			});
			try {
				assertThat(other.failure()).isInstanceOf(LockUnavailableException.class);
			}
			catch (InterruptedException ex) {
				throw new AssertionError(ex);
			}
		});
	}

	@Test
	void anotherEngineDoesNotReEnterWhatATransactionKeeps() {
		LockTemplate other = new DefaultLockTemplate(this.world.newEngine(LockWorld.settings("")));
		inTransaction(() -> {
			lockedWork();
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> other.execute("a", () -> {
			}));
		});
	}

	@Test
	void aHandleClosedInsideItsTransactionIsReleasedAfterIt() {
		inTransaction(() -> {
			LockHandle handle = this.locks.acquire("a");
			assertThat(handle.release()).isTrue();
			assertThat(isHeld()).isTrue();
			assertThat(handle.isHeld()).isTrue();
			assertThat(handle.release()).isFalse();
			lockedWork();
		});
		assertThat(isHeld()).isFalse();
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
	}

	@Test
	void aHandleClosedInsideItsTransactionByAnotherThreadIsReleasedAfterIt() {
		inTransaction(() -> {
			LockHandle handle = this.locks.acquire("a");
			try {
				assertThat(Worker.start(handle::release).result()).isTrue();
			}
			catch (Exception ex) {
				throw new AssertionError(ex);
			}
			assertThat(isHeld()).isTrue();
		});
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aHandleClosedAfterItsTransactionIsReleasedThen() {
		List<LockHandle> handles = new ArrayList<>();
		inTransaction(() -> handles.add(this.locks.acquire("a")));
		assertThat(isHeld()).isTrue();
		assertThat(handles.get(0).release()).isTrue();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aHandleThatIsStillOpenIsNotReEntered() {
		inTransaction(() -> {
			LockHandle handle = this.locks.acquire("a");
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(this::lockedWork);
			handle.close();
		});
	}

	@Test
	void theNextTransactionOfTheThreadAcquiresTheLockAgain() {
		inTransaction(this::lockedWork);
		inTransaction(this::lockedWork);
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(2);
	}

	@Test
	void aCommitUnderALostLockIsRefused() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			lockedWork();
			this.world.rob("a");
			this.world.advance(Duration.ofSeconds(10));
			LockWorld.eventually().until(() -> this.world.news().contains("lost a TAKEN_OVER"));
		})).satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.TAKEN_OVER));
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
		assertThat(isHeld()).as("by the other").isTrue();
	}

	@Test
	void aCommitAfterAnUnnoticedExpiryIsRefused() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			this.locks.execute("a", LockOptions.defaults().autoRenew(false), () -> {
			});
			this.world.clock().advance(LockWorld.LEASE);
		})).satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED));
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
	}

	@Test
	void aCommitUnderAnOpenHandleThatWasLostIsRefused() {
		List<LockHandle> handles = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			handles.add(this.locks.acquire("a", LockOptions.defaults().autoRenew(false)));
			this.world.clock().advance(LockWorld.LEASE);
		}));
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
		assertThat(handles.get(0).release()).isFalse();
	}

	@Test
	void theWorkOfALockThatIsLostInsideATransactionLearnsOfIt() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> this.locks.execute("a",
				LockOptions.defaults().autoRenew(false), () -> this.world.clock().advance(LockWorld.LEASE))));
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
	}

	@Test
	void noWorkBeginsUnderAKeptLockThatIsLost() {
		List<String> done = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			this.locks.execute("a", LockOptions.defaults().autoRenew(false), () -> {
			});
			this.world.clock().advance(LockWorld.LEASE);
			this.locks.execute("a", () -> {
				done.add("work");
			});
		}));
		assertThat(done).isEmpty();
	}

	@Test
	void aCommitAfterASuspensionAsksTheServer() {
		inTransaction(() -> {
			this.locks.execute("a", LockOptions.defaults().autoRenew(false), () -> {
			});
			this.world.clock().suspend(Duration.ofSeconds(5));
		});
		assertThat(this.transactions.outcomes()).containsExactly("commit");
		assertThat(this.repository.count(Kind.RENEW, "a")).isEqualTo(1);
	}

	@Test
	void aCommitThatCannotBeProvenIsRefused() {
		assertThatThrownBy(() -> inTransaction(() -> {
			this.locks.execute("a", LockOptions.defaults().autoRenew(false), () -> {
			});
			this.world.clock().suspend(Duration.ofSeconds(5));
			this.repository.always(Kind.RENEW, Fault.lost(Fault.timeout()));
		})).isInstanceOf(DataAccessException.class);
		assertThat(this.transactions.outcomes()).containsExactly("rollback");
	}

	@Test
	void aLockThatExpiresDuringTheCommitIsReportedAsLost() {
		this.transactions.atCommit(() -> this.world.clock().advance(LockWorld.LEASE));
		inTransaction(() -> this.locks.execute("a", LockOptions.defaults().autoRenew(false), () -> {
		}));
		LockWorld.eventually().until(() -> this.world.news().equals(List.of("acquired a", "lost a EXPIRED")));
	}

	@Test
	void aTransactionInsideKeepsItsOwnLocks() {
		inTransaction(() -> {
			inTransaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW, this::lockedWork);
			assertThat(isHeld()).isFalse();
			lockedWork();
			assertThat(isHeld()).isTrue();
		});
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(2);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aTransactionInsideReEntersTheLocksOfTheOuterOneAndLeavesThemToIt() {
		inTransaction(() -> {
			lockedWork();
			inTransaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW, this::lockedWork);
			assertThat(isHeld()).isTrue();
		});
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void theLocksOfATransactionInsideDoNotDisplaceALostOneOfTheOuter() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			LockHandle lost = this.locks.acquire("a", LockOptions.defaults().autoRenew(false));
			this.world.clock().advance(LockWorld.LEASE.plusSeconds(1));
			inTransaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW, this::lockedWork);
			assertThat(lost.isHeld()).isFalse();
		}));
		assertThat(this.transactions.outcomes()).containsExactly("commit", "rollback");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aReleaseThatFailsAfterTheTransactionChangesNothing() {
		this.repository.always(Kind.RELEASE, Fault.lost(() -> new DataAccessResourceFailureException("no server")));
		inTransaction(this::lockedWork);
		assertThat(this.transactions.outcomes()).containsExactly("commit");
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(3);
	}

	@Test
	void aTransactionThatAnotherThreadCompletedLeavesNothingToReEnter() throws Exception {
		TransactionSynchronizationManager.initSynchronization();
		TransactionSynchronizationManager.setActualTransactionActive(true);
		List<TransactionSynchronization> kept;
		try {
			lockedWork();
			kept = TransactionSynchronizationManager.getSynchronizations();
		}
		finally {
			TransactionSynchronizationManager.clear();
		}
		assertThat(Worker.start(() -> {
			kept.forEach((one) -> one.afterCompletion(TransactionSynchronization.STATUS_UNKNOWN));
			return true;
		}).result()).isTrue();
		assertThat(isHeld()).isFalse();
		lockedWork();
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(2);
	}

	@Test
	void aLockThatWasNotGrantedBecauseTheEngineClosedDoesNotPreventTheCommit() {
		this.repository.next(Kind.ACQUIRE, Fault.before(this.world.engine()::close));
		inTransaction(
				() -> assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> this.locks.acquire("a")));
		assertThat(this.transactions.outcomes()).containsExactly("commit");
		assertThat(isHeld()).isFalse();
	}

}
