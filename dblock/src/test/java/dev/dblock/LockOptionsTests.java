package dev.dblock;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import dev.dblock.job.JobFiring;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockOptionsTests {

	private static final Duration SOME = Duration.ofSeconds(7);

	@Test
	void leaveEverythingOpenUnlessSet() {
		assertThat(LockOptions.defaults()).isEqualTo(new LockOptions(null, null, null, null, null, null, null, null));
		assertThat(LockOptions.lease(SOME)).isEqualTo(new LockOptions(SOME, null, null, null, null, null, null, null));
	}

	@Test
	void eachMethodSetsOneOptionAndKeepsTheOthers() {
		LockOptions full = new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.INTERRUPT, "why", "label");
		Duration other = Duration.ofSeconds(8);
		assertThat(full.withLease(other))
			.isEqualTo(new LockOptions(other, SOME, SOME, SOME, true, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.waitUpTo(other))
			.isEqualTo(new LockOptions(SOME, other, SOME, SOME, true, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.minHold(other))
			.isEqualTo(new LockOptions(SOME, SOME, other, SOME, true, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.maxHold(other))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, other, true, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.autoRenew(false))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, SOME, false, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.whenLost(WhenLost.NOTIFY))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.NOTIFY, "why", "label"));
		assertThat(full.why("because"))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.INTERRUPT, "because", "label"));
		assertThat(full.label("other"))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.INTERRUPT, "why", "other"));
	}

	@Test
	void areCompletedByDefaultsAndKeepWhatTheySay() {
		LockOptions defaults = new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.NOTIFY, "why", "label");
		assertThat(LockOptions.defaults().orElse(defaults)).isEqualTo(defaults);
		LockOptions own = new LockOptions(Duration.ofSeconds(1), Duration.ZERO, Duration.ZERO, Duration.ZERO, false,
				WhenLost.INTERRUPT, "because", "other");
		assertThat(own.orElse(defaults)).isEqualTo(own);
	}

	@Test
	void refuseInvalidDurations() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.lease(Duration.ZERO))
			.withMessageContaining("lease must be positive");
		assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.lease(Duration.ofSeconds(-1)))
			.withMessageContaining("-1s");
		LockOptions options = LockOptions.defaults();
		Duration negative = Duration.ofNanos(-1);
		assertThatIllegalArgumentException().isThrownBy(() -> options.waitUpTo(negative))
			.withMessageContaining("wait")
			.withMessageContaining("zero tries once");
		assertThatIllegalArgumentException().isThrownBy(() -> options.minHold(negative))
			.withMessageContaining("minimum hold");
		assertThatIllegalArgumentException().isThrownBy(() -> options.maxHold(negative))
			.withMessageContaining("maximum hold");
		assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.lease(Duration.ofSeconds(Long.MIN_VALUE)))
			.withMessageContaining("lease must be positive");
	}

	@Test
	void aPlannedTimeIsAFiringOfItsOwnAndSurvivesTheOtherOptions() {
		Instant at = Instant.parse("2026-11-23T02:00:00.123456Z");
		LockOptions first = LockOptions.lease(SOME).claim(JobFiring.at(at));
		JobFiring firing = (JobFiring) first.claim();
		assertThat(firing.schedule())
			.isEqualTo(new JobFiring.Schedule.Planned(Instant.parse("2026-11-23T02:00:00.123Z")));
		assertThat(firing.jobId()).isNull();
		assertThat(((JobFiring) LockOptions.lease(SOME).claim(JobFiring.at(at)).claim()).id())
			.isNotEqualTo(firing.id());
		LockOptions later = first.withLease(SOME)
			.waitUpTo(SOME)
			.minHold(SOME)
			.maxHold(SOME)
			.autoRenew(true)
			.whenLost(WhenLost.NOTIFY)
			.why("why")
			.label("label")
			.orElse(LockOptions.defaults());
		assertThat(later.claim()).isSameAs(firing);
		assertThat(LockOptions.defaults().orElse(first).claim()).isSameAs(firing);
	}

	@Test
	void aPlannedTimeThatNoCalendarShowsIsRefused() {
		for (Instant at : List.of(Instant.MIN, Instant.MAX, Instant.ofEpochMilli(Long.MIN_VALUE),
				Instant.ofEpochMilli(Long.MAX_VALUE), Instant.parse("0000-12-31T23:59:59.999Z"),
				Instant.parse("+10000-01-01T00:00:00Z"))) {
			assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.defaults().claim(JobFiring.at(at)))
				.withMessage("A planned time must be between the years 1 and 9999, but is " + at);
		}
		for (String at : List.of("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z")) {
			assertThat(((JobFiring) LockOptions.defaults().claim(JobFiring.at(Instant.parse(at))).claim()).schedule())
				.isEqualTo(new JobFiring.Schedule.Planned(Instant.parse(at)));
		}
	}

	@Test
	void aScheduleWithoutAPeriodIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new JobFiring.Schedule.FixedRate(Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> new JobFiring.Schedule.FixedDelay(Duration.ofMillis(-1)));
	}

}
