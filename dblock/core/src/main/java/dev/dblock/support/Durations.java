package dev.dblock.support;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.StringJoiner;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Operations on {@link Duration} for the messages of all packages.
 */
public final class Durations {

	private static final int THOUSAND = 1000;

	private static final Duration LONGEST = Duration.ofMillis(Long.MAX_VALUE);

	private Durations() {
	}

	/**
	 * Return the shorter of two durations.
	 * @param one a duration
	 * @param other another duration
	 * @return the one that is not longer
	 */
	public static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) <= 0) ? one : other;
	}

	/**
	 * Format a duration for messages: {@code 143 ms}, {@code 1.2 s}, {@code 1 h 5 min}.
	 * @param duration the duration
	 * @return the text
	 */
	public static String readable(Duration duration) {
		return readableWithin(bounded(duration));
	}

	private static String readableWithin(Duration duration) {
		if (duration.isNegative()) {
			return "-" + readableWithin(duration.negated());
		}
		long millis = duration.toMillis();
		if (millis == 0) {
			return thousandths(duration.toNanos() / THOUSAND) + " ms";
		}
		if (millis < THOUSAND) {
			return millis + " ms";
		}
		StringJoiner parts = new StringJoiner(" ");
		add(parts, duration.toDaysPart(), " d");
		add(parts, duration.toHoursPart(), " h");
		add(parts, duration.toMinutesPart(), " min");
		long rest = duration.toSecondsPart() * (long) THOUSAND + duration.toMillisPart();
		if (rest > 0) {
			parts.add(thousandths(rest) + " s");
		}
		return parts.toString();
	}

	/**
	 * Format a duration as it is written in properties and annotations: {@code 30ms},
	 * {@code 1h5m}.
	 * @param duration the duration
	 * @return the text
	 */
	public static String written(Duration duration) {
		return DurationFormatterUtils.print(bounded(duration), DurationFormat.Style.COMPOSITE);
	}

	/**
	 * Return a duration whose milliseconds do not overflow, nor do those of its opposite.
	 */
	private static Duration bounded(Duration duration) {
		Duration bounded = shorter(duration, LONGEST);
		return (bounded.compareTo(LONGEST.negated()) < 0) ? LONGEST.negated() : bounded;
	}

	private static void add(StringJoiner parts, long count, String unit) {
		if (count > 0) {
			parts.add(count + unit);
		}
	}

	private static String thousandths(long count) {
		return BigDecimal.valueOf(count, 3).stripTrailingZeros().toPlainString();
	}

}
