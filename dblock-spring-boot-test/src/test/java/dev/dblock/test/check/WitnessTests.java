package dev.dblock.test.check;

import java.nio.file.Path;

import dev.dblock.test.check.ServerReport.Result;
import dev.dblock.test.check.Tally.Count;
import dev.dblock.test.check.Witness.Visit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the witness sees, and how it is judged.
 */
class WitnessTests {

	@TempDir
	Path folder;

	private final Tally tally = new Tally();

	private Witness witness() {
		return new Witness(this.folder, this.tally);
	}

	private Result judged() {
		return ExclusionChecks.judge("sections", this.tally, "").result();
	}

	@Test
	void oneHolderAfterTheOtherIsRight() {
		witness().enter("stock", 1).leave();
		witness().enter("stock", 2).leave();
		assertThat(this.tally.get(Count.GRANTED)).isEqualTo(2);
		assertThat(judged()).isEqualTo(Result.YES);
	}

	@Test
	void twoHoldersAtOnceOverlap() {
		Visit first = witness().enter("stock", 1);
		witness().enter("stock", 2).leave();
		first.leave();
		assertThat(this.tally.get(Count.OVERLAPPED)).isOne();
		assertThat(judged()).isEqualTo(Result.NO);
	}

	@Test
	void holdersOfDifferentLocksDoNot() {
		Visit first = witness().enter("stock", 1);
		witness().enter("orders", 1).leave();
		first.leave();
		assertThat(judged()).isEqualTo(Result.YES);
	}

	@Test
	void tokenThatDoesNotRiseIsLower() {
		witness().enter("stock", 2).leave();
		witness().enter("stock", 2).leave();
		assertThat(this.tally.get(Count.LOWER)).isOne();
		assertThat(judged()).isEqualTo(Result.NO);
	}

	@Test
	void plannedTimeThatRunsTwiceRunsAgain() {
		witness().run("planned-1");
		witness().run("planned-2");
		assertThat(this.tally.get(Count.AGAIN)).isZero();
		witness().run("planned-1");
		assertThat(this.tally.get(Count.AGAIN)).isOne();
		assertThat(this.tally.get(Count.GRANTED)).isEqualTo(2);
	}

	@Test
	void nothingIsNoProof() {
		this.tally.failed(new IllegalStateException("Refused. Try\nagain"));
		assertThat(judged()).isEqualTo(Result.FAILED);
		assertThat(this.tally.failure()).isEqualTo("Refused");
	}

	@Test
	void talliesOfTwoProcessesAreAdded() {
		witness().enter("stock", 1);
		this.tally.failed(new IllegalStateException("tab\tin it"));
		Tally both = Tally.fromLine(this.tally.toLine()).plus(Tally.fromLine(new Tally().toLine())).plus(this.tally);
		assertThat(both.get(Count.GRANTED)).isEqualTo(2);
		assertThat(both.get(Count.FAILED)).isEqualTo(2);
		assertThat(both.failure()).isEqualTo("tab in it");
	}

}
