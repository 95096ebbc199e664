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
		this.job.fire(MARCH, this.statements::send);
		this.job.fire(APRIL, this.statements::send);
		assertThat(this.statements.sent()).extracting(JobRun::plannedAt).containsExactly(MARCH, APRIL);
		assertThat(this.job.runs()).extracting(JobRun::plannedAt).containsExactly(APRIL, MARCH);
		assertThat(this.job.runs()).extracting(JobRun::outcome).containsOnly(JobRun.Outcome.SUCCEEDED);
	}

	@Test
	void areNotSentWhenAnotherInstanceHasSentThem() {
		this.job.runElsewhere(MARCH);
		this.job.fire(MARCH, this.statements::send);
		assertThat(this.statements.sent()).isEmpty();
		assertThat(this.job.runs()).extracting(JobRun::instance).containsExactly("another instance");
		assertThatIllegalStateException().isThrownBy(() -> this.job.runElsewhere(MARCH)).withMessageContaining("DONE");
	}

	@Test
	void areNotSentWhileThePauseLasts() {
		this.job.pause();
		this.job.fire(MARCH, this.statements::send);
		assertThat(this.statements.sent()).isEmpty();
		assertThat(this.job.resume()).isTrue();
		this.job.fire(MARCH, this.statements::send);
		assertThat(this.statements.sent()).hasSize(1);
	}

	@Test
	void areNotSentBeforeTheirTime() {
		this.job.fire(Instant.now().plus(Duration.ofDays(1)), this.statements::send);
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

}
