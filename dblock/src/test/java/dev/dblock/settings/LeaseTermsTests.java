package dev.dblock.settings;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;

import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.core.LockWorld;
import dev.dblock.job.JobFiring;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

class LeaseTermsTests {

	private static final Duration ZERO = Duration.ZERO;

	private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);

	private static LeaseTerms terms(LockOptions options) {
		return LeaseTerms.of(options.orElse(LockWorld.DEFAULTS));
	}

	@Test
	void takesWhatIsLeftOutFromTheDefaults() {
		LeaseTerms terms = terms(LockOptions.defaults());
		assertThat(terms).isEqualTo(new LeaseTerms(Duration.ofSeconds(30), Duration.ZERO, Duration.ZERO, Duration.ZERO,
				true, WhenLost.NOTIFY, null, null, false, 0));
	}

	@Test
	void takesEachOption() {
		LeaseTerms terms = terms(LockOptions.lease(Duration.ofSeconds(20))
			.waitUpTo(Duration.ofSeconds(5))
			.minHold(Duration.ofSeconds(20))
			.maxHold(Duration.ofHours(1))
			.autoRenew(false)
			.whenLost(WhenLost.INTERRUPT)
			.why("invoices")
			.permits(3));
		assertThat(terms).isEqualTo(new LeaseTerms(Duration.ofSeconds(20), Duration.ofSeconds(5),
				Duration.ofSeconds(20), Duration.ofHours(1), false, WhenLost.INTERRUPT, "invoices", null, false, 3));
	}

	@Test
	void permitsExcludeAPlannedTimeAndRequestsToRunAgain() {
		LockOptions permits = LockOptions.defaults().permits(1);
		assertThatIllegalArgumentException().isThrownBy(() -> terms(permits.claim(JobFiring.at(Instant.EPOCH))))
			.withMessageContaining("A planned time of a job runs once, so its lock has no permits");
		assertThatIllegalArgumentException().isThrownBy(() -> terms(permits).toAskable(Duration.ZERO))
			.withMessageContaining("Omit the permits, or RUN_AGAIN");
	}

	@Test
	void acceptsTheShortestAndTheLongestLease() {
		assertThatNoException().isThrownBy(() -> terms(LockOptions.lease(Duration.ofMillis(500))));
		assertThatNoException().isThrownBy(() -> terms(LockOptions.lease(Duration.ofDays(365))));
	}

	@Test
	void refusesALeaseThatCannotBeRenewedInTimeAndNamesTheSmallestThatCan() {
		assertThatIllegalArgumentException().isThrownBy(() -> terms(LockOptions.lease(Duration.ofMillis(499))))
			.withMessageContaining("499ms")
			.withMessageContaining("too short to be renewed")
			.withMessageContaining("500ms");
	}

	@Test
	void acceptsAnyLeaseFromAMillisecondWithoutRenewal() {
		assertThatNoException()
			.isThrownBy(() -> terms(LockOptions.lease(Duration.ofMillis(1)).minHold(ZERO).autoRenew(false)));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> terms(LockOptions.lease(Duration.ofNanos(999_999)).autoRenew(false)))
			.withMessageContaining("too short. The shortest is 1ms; tens of seconds are typical");
	}

	@Test
	void theFirstRequestForAVeryShortLeaseMayTakeLongerThanTheLease() {
		LeaseTerms terms = terms(LockOptions.lease(Duration.ofMillis(1)).minHold(ZERO).autoRenew(false));
		assertThat(terms.acquireTimeout(Duration.ofSeconds(10))).isEqualTo(Duration.ofMillis(500));
		assertThat(terms.acquireTimeout(Duration.ofMillis(100))).isEqualTo(Duration.ofMillis(100));
		assertThat(terms(LockOptions.lease(Duration.ofSeconds(2))).acquireTimeout(Duration.ofSeconds(10)))
			.isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void refusesALeaseOfMoreThanAYearInsteadOfOverflowing() {
		assertThatIllegalArgumentException().isThrownBy(() -> terms(LockOptions.lease(FOR_EVER)))
			.withMessageContaining("365d");
	}

	@Test
	void refusesAMinimumHoldLongerThanTheLease() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> terms(LockOptions.defaults().minHold(Duration.ofSeconds(30).plusNanos(1))))
			.withMessageContaining("minimum hold")
			.withMessageContaining("lease");
	}

	@Test
	void cutsWaitsAndMaximumHoldsOffWhereTheyWouldOverflow() {
		LeaseTerms terms = terms(LockOptions.defaults().waitUpTo(FOR_EVER).maxHold(FOR_EVER));
		assertThat(terms.waitUpTo()).isEqualTo(Duration.ofDays(36_500));
		assertThat(terms.maxHold()).isEqualTo(Duration.ofDays(36_500));
		assertThat(terms.waitUpTo().toNanos()).isPositive();
	}

	static Stream<Arguments> incompleteDefaults() {
		Duration some = Duration.ofSeconds(1);
		return Stream.of(arguments("lease", new LockOptions(null, some, some, some, true, WhenLost.NOTIFY, "", null)),
				arguments("wait", new LockOptions(some, null, some, some, true, WhenLost.NOTIFY, "", null)),
				arguments("minimum hold", new LockOptions(some, some, null, some, true, WhenLost.NOTIFY, "", null)),
				arguments("maximum hold", new LockOptions(some, some, some, null, true, WhenLost.NOTIFY, "", null)),
				arguments("autoRenew", new LockOptions(some, some, some, some, null, WhenLost.NOTIFY, "", null)),
				arguments("whenLost", new LockOptions(some, some, some, some, true, null, "", null)));
	}

	@ParameterizedTest
	@MethodSource("incompleteDefaults")
	void refusesDefaultsThatLeaveSomethingOut(String missing, LockOptions options) {
		assertThatIllegalArgumentException().isThrownBy(() -> LeaseTerms.of(options)).withMessageContaining(missing);
	}

	@Test
	void anExtensionIsPositiveAndNotLongerThanALeaseMayBe() {
		assertThatNoException().isThrownBy(() -> LeaseTerms.checkExtension(Duration.ofNanos(1), ZERO));
		assertThatNoException().isThrownBy(() -> LeaseTerms.checkExtension(Duration.ofDays(365), ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> LeaseTerms.checkExtension(ZERO, ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> LeaseTerms.checkExtension(Duration.ofSeconds(-1), ZERO));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> LeaseTerms.checkExtension(Duration.ofDays(365).plusNanos(1), ZERO));
	}

	@Test
	void theMinimumHoldOfAnExtensionIsNotLongerThanTheExtension() {
		Duration second = Duration.ofSeconds(1);
		assertThatNoException().isThrownBy(() -> LeaseTerms.checkExtension(second, second));
		assertThatIllegalArgumentException().isThrownBy(() -> LeaseTerms.checkExtension(second, second.plusNanos(1)))
			.withMessageContaining("minimum hold");
		assertThatIllegalArgumentException().isThrownBy(() -> LeaseTerms.checkExtension(second, Duration.ofNanos(-1)));
	}

	@Test
	void oneAttemptToRenewMayTakeASixthOfTheLease() {
		assertThat(terms(LockOptions.lease(Duration.ofSeconds(60))).renewalTimeout()).isEqualTo(Duration.ofSeconds(10));
	}

}
