package dev.dblock.annotation.invocation;

import java.time.Duration;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.name.AttributePlaceholders;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * Resolves a duration from a numeric attribute and its {@code …String} variant, as in
 * Spring's own annotations. A text that is empty after its placeholders are resolved
 * counts as not declared.
 */
public final class LockDurations {

	private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

	private final StringValueResolver placeholders;

	public LockDurations(StringValueResolver placeholders) {
		this.placeholders = placeholders;
	}

	/**
	 * Resolve a duration.
	 * @return the duration, or {@code null} if neither attribute is declared
	 * @throws IllegalArgumentException if both are declared, the text is not a duration,
	 * or the duration is longer than 292 years
	 */
	public @Nullable Duration resolve(String attribute, long seconds, String text) {
		boolean left = seconds == DistributedLock.NOT_SET;
		if (text.isEmpty()) {
			return left ? null : countable(attribute + "Seconds = " + seconds, Duration.ofSeconds(seconds));
		}
		if (!left) {
			throw new IllegalArgumentException(
					"both %1$sSeconds and %1$sString are set; remove one of them".formatted(attribute));
		}
		String source = "%sString = \"%s\"".formatted(attribute, text);
		String resolved = AttributePlaceholders.resolve(this.placeholders, source, text);
		return parse(text.equals(resolved) ? source : "%s, which is '%s',".formatted(source, resolved), resolved);
	}

	private static @Nullable Duration parse(String source, @Nullable String resolved) {
		return StringUtils.hasText(resolved) ? countable(source, duration(source, resolved.trim())) : null;
	}

	private static Duration duration(String source, String text) {
		try {
			return DurationFormatterUtils.detectAndParse(text, DurationFormat.Unit.SECONDS);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw new IllegalArgumentException(
					"%s is not a duration; write 90, 90s, 5m or PT1H (a number without a unit means seconds)"
						.formatted(source),
					ex);
		}
	}

	private static Duration countable(String source, Duration duration) {
		if (duration.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					"%s is longer than the maximum of 292 years; use a shorter one".formatted(source));
		}
		return duration;
	}

}
