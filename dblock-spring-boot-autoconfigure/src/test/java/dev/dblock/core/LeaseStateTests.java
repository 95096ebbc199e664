package dev.dblock.core;

import dev.dblock.LossReason;
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
		assertThat(this.state.endedInVain()).isFalse();
		this.state.endWith(LossReason.RELEASED);
		assertThat(this.state.endedInVain()).isTrue();
		assertThat(this.state.endedInVain()).isFalse();
		assertThat(this.state.end()).isEqualTo(LossReason.TAKEN_OVER);
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
	void nobodyIsToldOfAnEndThatNobodyWaitsFor() {
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
	void aRetiredSlotIsTakenByNobody() {
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

}
