package dev.dblock.faults;

import java.time.Duration;
import java.util.Locale;

/**
 * For how long a lock was left to itself.
 *
 * @param name the lock
 * @param span from when and until when
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
