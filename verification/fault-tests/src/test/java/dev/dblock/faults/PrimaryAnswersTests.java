package dev.dblock.faults;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PrimaryAnswersTests {

	private final FaultLog log = new FaultLog();

	private final PrimaryAnswers answers = new PrimaryAnswers(this.log);

	private static long nanos(long millis) {
		return TimeUnit.MILLISECONDS.toNanos(millis);
	}

	private static Window window(String kind, long from, long to) {
		return new Window(kind, 0, nanos(from), nanos(to));
	}

	@Test
	void longSilenceIsAWindowOfItsOwnForAll() {
		this.answers.read(nanos(5000), "first");
		this.answers.read(nanos(6000), "first");
		this.answers.read(nanos(7001), "first");
		this.answers.written(nanos(6000));
		this.answers.written(nanos(7000));
		this.answers.written(nanos(9000));
		assertThat(this.log.windows()).containsExactly(window("primary not readable", 6000, 7001),
				window("primary not writable", 7000, 9000));
	}

	@Test
	void electionIsAWindowOfItsOwnHoweverShort() {
		this.answers.read(nanos(5000), null);
		this.answers.read(nanos(5040), "first");
		this.answers.read(nanos(5080), "first");
		this.answers.read(nanos(5120), null);
		this.answers.read(nanos(5160), "second");
		assertThat(this.log.windows()).containsExactly(window("primary elected", 5120, 5160));
	}

}
