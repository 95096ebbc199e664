package dev.dblock.faults;

import java.time.Instant;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AccountLine}.
 */
class AccountLineTests {

	private static final Instant FROM = Instant.parse("2026-03-01T11:20:00Z");

	private static final Instant TO = Instant.parse("2026-03-01T11:40:00Z");

	@Test
	void reportsAreFound() {
		assertThat(AccountLine.in("INFO The job 'job' skipped its planned time 2026-03-01T11:20:00Z: the run"))
			.contains(new AccountLine("job", true, FROM, FROM));
		assertThat(AccountLine.in("ERROR The job 'job' missed 2 planned times, from 2026-03-01T11:20:00Z to"
				+ " 2026-03-01T11:40:00Z: no instance was up, had a free thread"))
			.contains(new AccountLine("job", false, FROM, TO));
		assertThat(AccountLine.in("The job 'job' missed 1,000 planned times and earlier ones, from"
				+ " 2026-03-01T11:20:00Z to 2026-03-01T11:40:00Z: no instance"))
			.contains(new AccountLine("job", false, FROM, TO));
	}

	@Test
	void otherLinesAreNone() {
		assertThat(AccountLine.in("The job 'job' missed 2 planned times, from 2026-03-01T11")).isEmpty();
		assertThat(AccountLine.in("Skipped Job#run (lock 'job'): an earlier run is still running")).isEmpty();
	}

}
