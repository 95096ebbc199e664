package dev.dblock.faults;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class StandstillsTests {

	private final FaultLog log = new FaultLog();

	@Test
	void wakingMuchTooLateExcusesEverybody() {
		long now = System.nanoTime();
		long last = now - Standstills.SHORTEST.toNanos() - 1;
		Standstills.record(this.log, last, now);
		assertThat(this.log.windows()).singleElement().satisfies((window) -> {
			assertThat(window.isForAll()).isTrue();
			assertThat(window.beginNanos()).isEqualTo(last);
			assertThat(window.endNanos()).isGreaterThanOrEqualTo(now);
		});
	}

	@Test
	void standstillAfterWhichTheServersElectLastsPastTheElection() {
		long now = System.nanoTime();
		Standstills.record(this.log, now - Standstills.CAUSES_ELECTION.toNanos() + 1, now);
		Standstills.record(this.log, now - Standstills.CAUSES_ELECTION.toNanos(), now);
		assertThat(this.log.windows()).extracting((window) -> window.endNanos() - now)
			.containsExactly(0L, Standstills.ELECTION.toNanos());
	}

	@Test
	void wakingLateAsOnABusyMachineExcusesNobody() {
		long now = System.nanoTime();
		Standstills.record(this.log, now - Standstills.SHORTEST.toNanos(), now);
		assertThat(this.log.windows()).isEmpty();
	}

}
