package com.acme;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.job.JobRun;
import dev.dblock.test.autoconfigure.AutoConfigureDblock;
import dev.dblock.test.autoconfigure.TestLocks;
import dev.dblock.test.autoconfigure.TestLocks.TestJob;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@SpringBootTest
@AutoConfigureDblock
class StatementsTests {

	private static final Instant MARCH = Instant.parse("2026-03-01T02:00:00Z");

	private static final Instant APRIL = Instant.parse("2026-04-01T02:00:00Z");

	@Autowired
	private TestLocks locks;

	@Autowired
	private Statements statements;

	private TestJob job;

	@BeforeEach
	void findJob() {
		this.statements.sent().clear();
		this.job = this.locks.job("monthly-statements");
	}

	@Test
	void areSentOncePerMonth() {
		this.job.fire(MARCH, this.statements::send);
		assertThatIllegalStateException().isThrownBy(() -> this.job.fire(MARCH, this.statements::send))
			.withMessageContaining("done by");
		this.job.fire(APRIL, this.statements::send);
		assertThat(this.statements.sent()).extracting(JobRun::plannedAt).containsExactly(MARCH, APRIL);
		assertThat(this.job.runs()).extracting(JobRun::plannedAt).containsExactly(APRIL, MARCH);
		assertThat(this.job.runs()).extracting(JobRun::outcome).containsOnly(JobRun.Outcome.SUCCEEDED);
	}

	@Test
	void areNotSentWhenAnotherInstanceHasSentThem() {
		this.job.runElsewhere(MARCH);
		assertThatIllegalStateException().isThrownBy(() -> this.job.fire(MARCH, this.statements::send))
			.withMessageContaining("done by another instance");
		assertThat(this.statements.sent()).isEmpty();
		assertThat(this.job.runs()).extracting(JobRun::instance).containsExactly("another instance");
		assertThatIllegalStateException().isThrownBy(() -> this.job.runElsewhere(MARCH)).withMessageContaining("DONE");
	}

	@Test
	void areNotSentWhileThePauseLasts() {
		this.job.pause();
		assertThatIllegalStateException().isThrownBy(() -> this.job.fire(MARCH, this.statements::send))
			.withMessageContaining("paused by a test");
		assertThat(this.statements.sent()).isEmpty();
		assertThat(this.job.resume()).isTrue();
		this.job.fire(MARCH, this.statements::send);
		assertThat(this.statements.sent()).hasSize(1);
	}

	@Test
	void areNotSentBeforeTheirTime() {
		Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
		assertThatIllegalStateException().isThrownBy(() -> this.job.fire(tomorrow, this.statements::send))
			.withMessageContaining("not due");
		assertThat(this.statements.sent()).isEmpty();
	}

	@Test
	void throwWhatTheCallThrows() {
		assertThatIllegalStateException().isThrownBy(() -> this.job.fire(MARCH, () -> {
			this.statements.send();
			throw new IllegalStateException("After the job");
		})).withMessage("After the job");
		assertThat(this.job.runs()).hasSize(1);
	}

	@Test
	void areForgottenWithTheLocks() {
		this.job.runElsewhere(MARCH);
		this.job.pause();
		this.locks.reset();
		assertThat(this.job.runs()).isEmpty();
		this.job.fire(MARCH, this.statements::send);
		assertThat(this.statements.sent()).hasSize(1);
	}

	@Test
	void areNotSentForATimeBeforeTheLastRun() {
		this.job.fire(APRIL, this.statements::send);
		assertThatIllegalStateException().isThrownBy(() -> this.job.fire(MARCH, this.statements::send))
			.withMessageContaining("Its last run was planned for " + APRIL);
		assertThat(this.statements.sent()).hasSize(1);
	}

	@Test
	void areNotSentWhileAnotherInstanceHoldsTheLock() {
		this.locks.holdElsewhere("monthly-statements");
		assertThatIllegalStateException().isThrownBy(() -> this.job.fire(MARCH, this.statements::send))
			.withMessageContaining("held by another instance");
		assertThat(this.statements.sent()).isEmpty();
	}

	@Test
	void areNotSentByACallThatDoesNotPassTheProxy() {
		assertThatIllegalStateException().isThrownBy(() -> this.job.fire(MARCH, new Statements()::sent))
			.withMessageContaining("through its proxy");
	}

}
