package dev.dblock.annotation.name;

import java.time.Duration;
import java.util.Map;

import dev.dblock.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class AttributeValuesTests {

	private final Map<String, String> placeholders = Map.of("${lease}", "45s", "${none}", "", "${blank}", "  ",
			"${bad}", "soon", "${number}", " 3 ", "${many}", "1001");

	private final AttributeValues attributes = new AttributeValues(
			(text) -> "${null}".equals(text) ? null : this.placeholders.getOrDefault(text, text));

	@Test
	void leftOut() {
		assertThat(this.attributes.duration("lease", DistributedLock.NOT_SET, "")).isNull();
	}

	@Test
	void numberMeansSeconds() {
		assertThat(this.attributes.duration("lease", 90, "")).isEqualTo(Duration.ofSeconds(90));
		assertThat(this.attributes.duration("wait", 0, "")).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "90, PT1M30S", "90s, PT1M30S", "5m, PT5M", "PT1H, PT1H", "250ms, PT0.25S", "1h30m, PT1H30M", "0, PT0S",
			"' 7s ', PT7S", "${lease}, PT45S", "-1s, PT-1S" })
	void textIsInSpringsNotation(String text, Duration expected) {
		assertThat(this.attributes.duration("lease", DistributedLock.NOT_SET, text)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "${none}", "${blank}", "${null}" })
	void emptyPlaceholderCountsAsLeftOut(String text) {
		assertThat(this.attributes.duration("lease", DistributedLock.NOT_SET, text)).isNull();
	}

	@Test
	void bothGivenIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.duration("minHold", 5, "5s"))
			.withMessage("both minHoldSeconds and minHoldString are set; remove one of them");
	}

	@ParameterizedTest
	@ValueSource(strings = { "soon", "5 parsecs", "5x", "99999999999999999999s", "PT", "106751991167301d" })
	void otherTextIsRefused(String text) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.attributes.duration("lease", DistributedLock.NOT_SET, text))
			.withMessage("leaseString = \"" + text
					+ "\" is not a duration; write 90, 90s, 5m or PT1H (a number without a unit means seconds)");
	}

	@Test
	void errorNamesThePlaceholderAndItsValue() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.attributes.duration("lease", DistributedLock.NOT_SET, "${bad}"))
			.withMessage("leaseString = \"${bad}\", which is 'soon', is not a duration; write 90, 90s, 5m or PT1H (a"
					+ " number without a unit means seconds)");
	}

	@Test
	void permits() {
		assertThat(this.attributes.permits(DistributedLock.NOT_SET, "")).isNull();
		assertThat(this.attributes.permits(DistributedLock.NOT_SET, "${none}")).isNull();
		assertThat(this.attributes.permits(1, "")).isOne();
		assertThat(this.attributes.permits(1000, "")).isEqualTo(1000);
		assertThat(this.attributes.permits(DistributedLock.NOT_SET, "${number}")).isEqualTo(3);
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, -1, 1001, Integer.MAX_VALUE + 2L })
	void otherNumbersOfPermitsAreRefused(long number) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.permits(number, ""))
			.withMessage("permits = " + number + " is not a number from 1 to 1000; write how many holders the lock can"
					+ " have at the same time, or remove it for a lock with one holder");
	}

	@ParameterizedTest
	@ValueSource(strings = { "0", "1001", "-3", "3.0", "0x3", "many", "#{3}", "99999999999999999999", "٣" })
	void otherTextsForPermitsAreRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.permits(DistributedLock.NOT_SET, text))
			.withMessageStartingWith("permitsString = \"" + text + "\" is not a number from 1 to 1000; ");
	}

	@Test
	void errorNamesThePlaceholderForPermitsAndItsValue() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.attributes.permits(DistributedLock.NOT_SET, "${many}"))
			.withMessageStartingWith("permitsString = \"${many}\", which is '1001', is not a number from 1 to 1000; ");
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.permits(3, "3"))
			.withMessage("both permits and permitsString are set; remove one of them");
	}

	@Test
	void durationThatOverflowsIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.attributes.duration("lease", Long.MAX_VALUE, ""))
			.withMessage(
					"leaseSeconds = 9223372036854775807 is longer than the maximum of 292 years; use a shorter one");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.attributes.duration("wait", DistributedLock.NOT_SET, "106752d"))
			.withMessageStartingWith("waitString = \"106752d\" is longer than the maximum of 292 years");
		assertThat(this.attributes.duration("wait", DistributedLock.NOT_SET, "106751d"))
			.isEqualTo(Duration.ofDays(106751));
	}

}
