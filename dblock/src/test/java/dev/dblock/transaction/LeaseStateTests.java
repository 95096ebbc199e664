package dev.dblock.transaction;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.LossReason;
import dev.dblock.core.Worker;
import dev.dblock.store.TransactionFence;
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
		assertThat(this.state.releaseAtEnd()).isFalse();
		this.state.open();
		this.state.open();
		assertThat(this.state.endWith(LossReason.RELEASED)).isFalse();
		assertThat(this.state.releaseAtEnd()).isTrue();
		assertThat(this.state.close()).isFalse();
		assertThat(this.state.close()).isTrue();
		assertThat(this.state.endWith(LossReason.RELEASED)).isTrue();
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
		assertThat(this.state.releaseAtEnd()).isTrue();
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
		assertThat(this.state.isHandedOver()).isFalse();
		assertThat(this.state.endWith(LossReason.RELEASED)).isTrue();
		assertThat(this.state.isHandedOver()).isFalse();
	}

	@Test
	void noChangeBeginsAfterAHandOver() {
		assertThat(this.state.endForSuccessor()).isTrue();
		assertThat(this.state.isHandedOver()).isTrue();
		assertThat(this.state.beginChange()).isFalse();
	}

}
