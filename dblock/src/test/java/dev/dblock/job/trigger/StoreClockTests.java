package dev.dblock.job.trigger;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class StoreClockTests {

	private final MovedClock own = new MovedClock("2026-03-01T12:00:00Z");

	private final StoreClock clock = new StoreClock(this.own::nanoTime);

	@Test
	void showsTheOwnTimeBeforeAnAnswer() {
		this.own.set(Duration.ofMinutes(10));
		assertThat(this.clock.now(this.own)).isEqualTo("2026-03-01T12:10:00Z");
	}

	@Test
	void showsTheServersTimeAfterAnAnswer() {
		this.own.set(Duration.ofMinutes(10));
		answer();
		this.own.pass(Duration.ofSeconds(5));
		assertThat(this.clock.now(this.own)).isEqualTo("2026-03-01T12:00:05Z");
		this.own.set(Duration.ofHours(-2));
		assertThat(this.clock.now(this.own)).isEqualTo("2026-03-01T12:00:05Z");
		assertThat(this.clock.toOwn(Instant.parse("2026-03-01T12:00:06Z"), this.own)).isEqualTo("2026-03-01T10:00:06Z");
		assertThat(this.clock.toServer(Instant.parse("2026-03-01T10:00:04Z"), this.own))
			.isEqualTo("2026-03-01T12:00:04Z");
	}

	@Test
	void slowAnswerMovesNothing() {
		answer();
		long sent = this.own.nanoTime();
		Instant decided = this.own.server();
		this.own.pass(Duration.ofSeconds(3));
		this.clock.learn(decided, sent, this.own);
		assertThat(this.clock.now(this.own)).isEqualTo(this.own.server());
	}

	@Test
	void serverThatWasSetBackIsFollowed() {
		answer();
		Instant setBack = this.own.server().minusSeconds(3600);
		this.clock.learn(setBack, this.own.nanoTime(), this.own);
		assertThat(this.clock.now(this.own)).isBetween(setBack, setBack.plusMillis(1));
	}

	@Test
	void wrongClockIsReportedOnce(CapturedOutput output) {
		answer();
		assertThat(output).doesNotContain("The clock of this instance");
		this.own.set(Duration.ofHours(3));
		answer();
		answer();
		assertThat(output).containsOnlyOnce("The clock of this instance shows 2026-03-01T15:00:00Z, but that of the"
				+ " MongoDB server shows 2026-03-01T12:00:00Z");
	}

	private void answer() {
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
	}

}
