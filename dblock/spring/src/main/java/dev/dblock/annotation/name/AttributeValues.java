package dev.dblock.annotation.name;

import java.time.Duration;

import dev.dblock.DistributedLock;
import dev.dblock.LockOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * Resolves the values of annotation attributes.
 */
public final class AttributeValues {

	private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

	private final StringValueResolver placeholders;

	/**
	 * Create a resolver of values.
	 * @param placeholders resolves placeholders
	 */
	public AttributeValues(StringValueResolver placeholders) {
		this.placeholders = placeholders;
	}

	/**
	 * Resolve the placeholders in a text.
	 * @param attribute the attribute with its text, as the exception message cites it
	 * @param text the text
	 * @return the resolved text
	 * @throws IllegalArgumentException if a placeholder cannot be resolved
	 */
	public @Nullable String text(String attribute, String text) {
		String resolved;
		try {
			resolved = this.placeholders.resolveStringValue(text);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(unresolved(attribute, String.valueOf(ex.getMessage())), ex);
		}
		// Without a placeholder configurer, Spring leaves unknown placeholders in the
		// text
		if (resolved != null && resolved.contains("${")) {
			throw new IllegalArgumentException(unresolved(attribute, "'" + resolved + "'"));
		}
		return resolved;
	}

	private static String unresolved(String attribute, String reason) {
		return ("%s has a placeholder that cannot be resolved: %s; set the property, or give it a default as in"
				+ " ${key:default}")
			.formatted(attribute, reason);
	}

	/**
	 * Resolve a duration from a numeric attribute and its {@code …String} variant, as in
	 * Spring's own annotations. A text that is empty after its placeholders are resolved
	 * counts as not declared.
	 * @param attribute the name that both attributes begin with
	 * @param seconds the numeric attribute
	 * @param text the attribute with the text
	 * @return the duration, or {@code null} if neither attribute is declared
	 * @throws IllegalArgumentException if both are declared, the text is not a duration,
	 * or the duration is longer than 292 years
	 */
	public @Nullable Duration duration(String attribute, long seconds, String text) {
		boolean left = seconds == DistributedLock.NOT_SET;
		if (text.isEmpty()) {
			return left ? null : countable(attribute + "Seconds = " + seconds, Duration.ofSeconds(seconds));
		}
		if (!left) {
			throw new IllegalArgumentException(
					"both %1$sSeconds and %1$sString are set; remove one of them".formatted(attribute));
		}
		String source = "%sString = \"%s\"".formatted(attribute, text);
		String resolved = text(source, text);
		return parse(text.equals(resolved) ? source : "%s, which is '%s',".formatted(source, resolved), resolved);
	}

	/**
	 * Resolve the number of permits from the numeric attribute and its {@code …String}
	 * variant.
	 * @param number the numeric attribute
	 * @param text the attribute with the text
	 * @return the number, or {@code null} if neither attribute is declared
	 * @throws IllegalArgumentException if both are declared, the text is not a number, or
	 * a lock cannot have that many permits
	 */
	public @Nullable Integer permits(long number, String text) {
		return number("permits", number, text, LockOptions.MOST_PERMITS,
				"write how many holders the lock can have at the same time, or remove it for a lock with one holder");
	}

	/**
	 * Resolve a number from a numeric attribute and its {@code …String} variant.
	 * @param attribute the name that both attributes begin with
	 * @param number the numeric attribute
	 * @param text the attribute with the text
	 * @param most the largest possible number
	 * @param remedy what to write instead of a number that is not possible
	 * @return the number, or {@code null} if neither attribute is declared
	 * @throws IllegalArgumentException if both are declared, the text is not a number, or
	 * it is not between 1 and the largest one
	 */
	public @Nullable Integer number(String attribute, long number, String text, int most, String remedy) {
		boolean left = number == DistributedLock.NOT_SET;
		String source = (attribute + " = ") + number;
		String resolved = left ? null : String.valueOf(number);
		if (!text.isEmpty()) {
			if (!left) {
				throw new IllegalArgumentException(
						"both %1$s and %1$sString are set; remove one of them".formatted(attribute));
			}
			source = "%sString = \"%s\"".formatted(attribute, text);
			resolved = text(source, text);
			source = text.equals(resolved) ? source : "%s, which is '%s',".formatted(source, resolved);
		}
		if (!StringUtils.hasText(resolved)) {
			return null;
		}
		String digits = resolved.trim();
		int parsed = digits.matches("\\d{1,9}") ? Integer.parseInt(digits) : 0;
		if (parsed < 1 || parsed > most) {
			throw new IllegalArgumentException("%s is not a number from 1 to %d; %s".formatted(source, most, remedy));
		}
		return parsed;
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
