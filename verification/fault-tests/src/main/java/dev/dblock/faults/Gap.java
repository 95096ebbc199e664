package dev.dblock.faults;

import java.time.Duration;
import java.util.Locale;

/**
 * Time for which a lock was not used.
 *
 * @param name the name of the lock
 * @param span the time
 */
record Gap(String name, Span span) {

	long nanos() {
		return this.span.nanos();
	}

	boolean isLongerThan(Duration limit) {
		return nanos() > limit.toNanos();
	}

	String describe() {
		return String.format(Locale.ROOT, "'%s' for %,d ms", this.name, nanos() / 1_000_000);
	}

}
