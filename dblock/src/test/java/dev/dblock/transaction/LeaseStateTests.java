package dev.dblock.transaction;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.LossReason;
import dev.dblock.core.Worker;
import dev.dblock.store.TransactionFence;
import dev.dblock.transaction.LeaseState.Release;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class LeaseStateTests {

	private final LeaseState state = new LeaseState();

	@ParameterizedTest
	@EnumSource
	void aLeaseEndsOnce(LossReason reason) {
		assertThat(this.state.end()).isNull();
		assertThat(this.state.endWith(reason)).isTrue();
		assertThat(this.state.endWith(LossReason.SHUTDOWN)).isFalse();
		assertThat(this.state.endWith(LossReason.RELEASED)).isFalse();
		assertThat(this.state.end()).isEqualTo(reason);
		assertThat(this.state.open()).isFalse();
	}

	@Test
	void aReleaseCanTurnOutToBeALoss() {
		assertThat(this.state.turnIntoLoss()).isFalse();
		this.state.endWith(LossReason.RELEASED);
		assertThat(this.state.turnIntoLoss()).isTrue();
		assertThat(this.state.turnIntoLoss()).isFalse();
		assertThat(this.state.end()).isEqualTo(LossReason.TAKEN_OVER);
	}

	@Test
	void aReleaseBecomesALossDespiteConcurrentChanges() throws Exception {
		for (int i = 0; i < 200; i++) {
			LeaseState state = new LeaseState();
			int slot = state.takeSlot();
			state.endWith(LossReason.RELEASED);
			CountDownLatch busy = new CountDownLatch(1);
			AtomicBoolean over = new AtomicBoolean();
			Worker<Void> changing = Worker.start(() -> {
				while (!over.get()) {
					state.retireSlot(slot);
					state.freeSlot(slot);
					busy.countDown();
				}
				return null;
			});
			busy.await();
			boolean turned = state.turnIntoLoss();
			over.set(true);
			changing.result();
			assertThat(turned).isTrue();
			assertThat(state.end()).isEqualTo(LossReason.TAKEN_OVER);
		}
	}

	@Test
	void underALeaseThatHasEndedNoSlotIsTaken() {
		this.state.endWith(LossReason.RELEASED);
		assertThat(this.state.takeSlot()).isEqualTo(LeaseState.NO_SLOT);
		assertThat(this.state.takeRetiredSlot()).isEqualTo(LeaseState.NO_SLOT);
		assertThat(this.state.isUnsettled()).isFalse();
	}

	@Test
	void aSlotMayBeRetiredFromTheBeginning() {
		assertThat(this.state.takeSlot()).isZero();
		assertThat(this.state.takeRetiredSlot()).isEqualTo(1);
		assertThat(this.state.isUnsettled()).isTrue();
		this.state.freeSlot(1);
		assertThat(this.state.isUnsettled()).isFalse();
	}

	@Test
	void nothingIsHandedOverAfterATransactionWithoutAnEnd() {
		int slot = this.state.takeRetiredSlot();
		assertThat(this.state.endForSuccessor()).isFalse();
		this.state.freeSlot(slot);
		this.state.open();
		assertThat(this.state.endForSuccessor()).isFalse();
		this.state.close();
		assertThat(this.state.endForSuccessor()).isTrue();
		assertThat(this.state.end()).isEqualTo(LossReason.RELEASED);
		assertThat(this.state.endForSuccessor()).isFalse();
	}

	@Test
	void aReleaseWaitsForTheLastTransaction() {
		this.state.open();
		this.state.open();
		assertThat(this.state.endWith(LossReason.RELEASED)).isFalse();
		assertThat(this.state.release()).isEqualTo(Release.AT_END_OF_TRANSACTION);
		assertThat(this.state.close()).isFalse();
		assertThat(this.state.close()).isTrue();
		assertThat(this.state.end()).isNull();
		assertThat(this.state.release()).isEqualTo(Release.NOW);
		assertThat(this.state.release()).isEqualTo(Release.LOST);
	}

	@Test
	void closeReturnsFalseWithoutAPendingEnd() {
		this.state.open();
		assertThat(this.state.close()).isFalse();
	}

	@Test
	void aLossWaitsForNothing() {
		this.state.open();
		int slot = this.state.takeSlot();
		assertThat(this.state.endWith(LossReason.EXPIRED)).isTrue();
		assertThat(this.state.end()).isEqualTo(LossReason.EXPIRED);
		assertThat(this.state.release()).isEqualTo(Release.AT_END_OF_TRANSACTION);
		this.state.freeSlot(slot);
		assertThat(this.state.close()).isTrue();
		assertThat(this.state.end()).isEqualTo(LossReason.EXPIRED);
	}

	@Test
	void eachSlotIsTakenOnce() {
		for (int slot = 0; slot < TransactionFence.SLOTS; slot++) {
			assertThat(this.state.takeSlot()).isEqualTo(slot);
		}
		assertThat(this.state.takeSlot()).isEqualTo(LeaseState.NO_SLOT);
		assertThat(this.state.hasFreeSlot()).isFalse();
		this.state.retireSlot(2);
		assertThat(this.state.hasFreeSlot()).isFalse();
		this.state.freeSlot(2);
		assertThat(this.state.hasFreeSlot()).isTrue();
		assertThat(this.state.takeSlot()).isEqualTo(2);
	}

	@Test
	void aRetiredSlotIsNotUsedAgain() {
		this.state.open();
		assertThat(this.state.isClear()).isFalse();
		this.state.retireSlot(this.state.takeSlot());
		this.state.close();
		assertThat(this.state.takeSlot()).isEqualTo(1);
		this.state.freeSlot(1);
		assertThat(this.state.isUnsettled()).isTrue();
		assertThat(this.state.isClear()).isFalse();
		this.state.freeSlot(0);
		assertThat(this.state.isUnsettled()).isFalse();
		assertThat(this.state.isClear()).isTrue();
		assertThat(this.state.endWith(LossReason.RELEASED)).isTrue();
	}

	@Test
	void aSlotInUseDoesNotLookLikeAnEnd() {
		this.state.takeSlot();
		assertThat(this.state.end()).isNull();
		assertThat(this.state.endWith(LossReason.RELEASED)).isTrue();
	}

	@Test
	void aChangeThatHasBegunPreventsAHandOverForGood() {
		assertThat(this.state.beginChange()).isTrue();
		assertThat(this.state.canEndForSuccessor()).isFalse();
		assertThat(this.state.endForSuccessor()).isFalse();
		assertThat(this.state.release()).isEqualTo(Release.NOW);
	}

	@Test
	void noChangeBeginsAfterAHandOver() {
		assertThat(this.state.endForSuccessor()).isTrue();
		assertThat(this.state.release()).isEqualTo(Release.HANDED_OVER);
		assertThat(this.state.beginChange()).isFalse();
	}

	@Test
	void theTransactionInWhichItWasAcquiredKeepsALeaseToo() {
		this.state.bind();
		this.state.open();
		assertThat(this.state.endForSuccessor()).isFalse();
		assertThat(this.state.release()).isEqualTo(Release.AT_END_OF_TRANSACTION);
		assertThat(this.state.isKeptAfterRelease()).isTrue();
		assertThat(this.state.close()).isFalse();
		assertThat(this.state.unbind()).isTrue();
		assertThat(this.state.isKeptAfterRelease()).isFalse();
		assertThat(this.state.release()).isEqualTo(Release.NOW);
	}

	@Test
	void theLastOfItsTransactionsReleasesALeaseThatWasLostMeanwhile() {
		this.state.bind();
		this.state.open();
		this.state.release();
		assertThat(this.state.endWith(LossReason.EXPIRED)).isTrue();
		assertThat(this.state.unbind()).isFalse();
		assertThat(this.state.close()).isTrue();
		assertThat(this.state.release()).isEqualTo(Release.LOST);
		assertThat(this.state.end()).isEqualTo(LossReason.EXPIRED);
	}

	@Test
	void aLeaseThatIsLostBeforeItsReleaseIsNotKeptByTheTransactionInWhichItWasAcquired() {
		this.state.bind();
		this.state.endWith(LossReason.EXPIRED);
		assertThat(this.state.release()).isEqualTo(Release.LOST);
		assertThat(this.state.isKeptAfterRelease()).isFalse();
		assertThat(this.state.unbind()).isFalse();
	}

	@Test
	void anAnnouncedEndIsNotForgottenWhileATransactionKeepsTheLease() {
		this.state.open();
		this.state.aboutToEnd();
		this.state.release();
		assertThat(this.state.isAboutToEnd()).isTrue();
		this.state.close();
		assertThat(this.state.isAboutToEnd()).isTrue();
		this.state.release();
		assertThat(this.state.isAboutToEnd()).isFalse();
	}

	@Test
	void aLeaseIsAbandonedOnceAndStillEnds() {
		assertThat(this.state.abandon()).isTrue();
		assertThat(this.state.abandon()).isFalse();
		assertThat(this.state.isAboutToEnd()).isFalse();
		assertThat(this.state.end()).isNull();
		assertThat(this.state.endWith(LossReason.EXPIRED)).isTrue();
		assertThat(this.state.abandon()).isFalse();
	}

	@Test
	void ofAReleaseAndTheEndOfTheLastTransactionOneReleasesTheLease() throws Exception {
		for (int i = 0; i < 500; i++) {
			LeaseState state = new LeaseState();
			state.open();
			CountDownLatch both = new CountDownLatch(2);
			Worker<Boolean> closing = Worker.start(() -> {
				both.countDown();
				both.await();
				return state.close() && state.release() == Release.NOW;
			});
			both.countDown();
			both.await();
			boolean released = state.release() == Release.NOW;
			assertThat(closing.result()).isNotEqualTo(released);
			assertThat(state.end()).isEqualTo(LossReason.RELEASED);
		}
	}

}
