package dev.dblock.core;

import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.core.Request.Kind;
import dev.dblock.store.LockRepository.FenceMark;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Listeners of the application that were there first, and fail: Spring calls none of
 * those after them.
 */
@Timeout(30)
class FailingTransactionListenersTests {

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final LockTemplate locks = this.world.template();

	private final ScriptedFence fence = new ScriptedFence();

	private final ScriptedTransactions transactions = new ScriptedTransactions();

	private final FailingListener listener = new FailingListener();

	@BeforeEach
	void follow() {
		this.transactions.addListener(this.listener);
		this.world.follow(this.transactions);
		this.repository.fence((manager) -> this.fence);
	}

	@AfterEach
	void close() {
		this.world.close();
	}

	private boolean isHeld() {
		return this.repository.isHeld("a");
	}

	/**
	 * Run a transaction at whose end the listener fails.
	 */
	private void end(Moment moment, Runnable work) {
		this.listener.failAt(moment);
		this.transactions.atCommit(() -> {
			assertThat(isHeld()).as("until the commit").isTrue();
			if (moment == Moment.AFTER_FAILED_COMMIT) {
				throw new TransactionSystemException("scripted");
			}
		});
		TransactionTemplate template = new TransactionTemplate(this.transactions);
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> template.executeWithoutResult((status) -> {
				work.run();
				if (moment == Moment.BEFORE_ROLLBACK || moment == Moment.AFTER_ROLLBACK) {
					status.setRollbackOnly();
				}
			}))
			.withMessage(moment.name());
		this.listener.failAt(null);
		this.transactions.atCommit(() -> {
		});
	}

	@ParameterizedTest
	@EnumSource
	void aLockAroundTheTransactionIsReleased(Moment moment) {
		LockHandle lock = this.locks.acquire("a");
		end(moment, () -> {
		});
		assertThat(isHeld()).isTrue();
		lock.release();
		assertThat(isHeld()).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void aLockTakenInsideTheTransactionIsReleased(Moment moment) {
		end(moment, () -> this.locks.execute("a", () -> {
		}));
		assertThat(isHeld()).isFalse();
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource
	void aTransactionInsideAnotherOneEndsAlone(Moment moment) {
		LockHandle lock = this.locks.acquire("a");
		this.transactions.run(() -> {
			end(moment, () -> {
			});
			lock.release();
			assertThat(isHeld()).as("kept by the outer one").isTrue();
		});
		assertThat(isHeld()).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "AFTER_COMMIT", "AFTER_FAILED_COMMIT", "AFTER_ROLLBACK" })
	void aManagerWithoutSynchronizationReleasesItsLocks(Moment moment) {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		LockHandle lock = this.locks.acquire("a");
		end(moment, () -> {
		});
		lock.release();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void theTransactionAfterwardsHasTheSlotOfACommittedOne() {
		LockHandle lock = this.locks.acquire("a");
		end(Moment.AFTER_COMMIT, () -> {
		});
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0, 0);
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void theTransactionAfterwardsHasTheSlotOfOneThatTheStoreHasEnded() {
		LockHandle lock = this.locks.acquire("a");
		this.fence.endedByFailures();
		end(Moment.AFTER_FAILED_COMMIT, () -> {
		});
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0, 0);
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void theNextHolderIsNotifiedOfACommitWhoseOutcomeIsUnknown() {
		LockHandle lock = this.locks.acquire("a");
		end(Moment.AFTER_FAILED_COMMIT, () -> {
		});
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.SET);
	}

	@Test
	void theFenceIsWrittenAfterTheListenersOfTheApplication() {
		LockHandle lock = this.locks.acquire("a");
		end(Moment.BEFORE_COMMIT, () -> {
		});
		assertThat(this.fence.slots()).isEmpty();
		lock.release();
		assertThat(this.repository.fenceMark("a")).isEqualTo(FenceMark.KEEP);
	}

	@Test
	void aManagerThatIsFollowedTwiceReleasesItsLocks() {
		this.world.follow(this.transactions);
		LockHandle lock = this.locks.acquire("a");
		this.transactions.run(() -> {
		});
		assertThat(this.fence.slots()).containsExactly(0);
		lock.release();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aManagerThatHandsItsListenersToAnotherOneReleasesItsLocks() {
		this.transactions.getTransactionExecutionListeners().stream().toList().forEach(this.transactions::addListener);
		LockHandle lock = this.locks.acquire("a");
		this.transactions.run(() -> {
		});
		lock.release();
		assertThat(isHeld()).isFalse();
	}

	private enum Moment {

		BEFORE_COMMIT, AFTER_COMMIT, AFTER_FAILED_COMMIT, BEFORE_ROLLBACK, AFTER_ROLLBACK

	}

	private static final class FailingListener implements TransactionExecutionListener {

		private @Nullable Moment moment;

		void failAt(@Nullable Moment moment) {
			this.moment = moment;
		}

		private void at(Moment moment) {
			if (moment == this.moment) {
				this.moment = null;
				throw new TransactionSystemException(moment.name());
			}
		}

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			at(Moment.BEFORE_COMMIT);
		}

		@Override
		public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
			at((failure != null) ? Moment.AFTER_FAILED_COMMIT : Moment.AFTER_COMMIT);
		}

		@Override
		public void beforeRollback(TransactionExecution transaction) {
			at(Moment.BEFORE_ROLLBACK);
		}

		@Override
		public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
			at(Moment.AFTER_ROLLBACK);
		}

	}

}
