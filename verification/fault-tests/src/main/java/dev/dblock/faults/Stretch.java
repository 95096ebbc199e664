package dev.dblock.faults;

import org.jspecify.annotations.Nullable;

/**
 * Time for which the servers were seen to have a lock in one state.
 *
 * @param name the name of the lock
 * @param holder the holder of an unexpired lease; {@code null} if the lock is free
 * @param token the last reserved token
 * @param firstNanos when the state had been seen for the first time
 * @param lastNanos when the state was asked for before it was seen for the last time,
 * which is before {@code firstNanos} if it was seen once
 */
record Stretch(String name, @Nullable String holder, long token, long firstNanos, long lastNanos) {

	boolean isFree() {
		return this.holder == null;
	}

	boolean continues(Stretch earlier, long longestGapNanos) {
		return this.name.equals(earlier.name) && this.token == earlier.token
				&& ((this.holder == null) ? earlier.holder == null : this.holder.equals(earlier.holder))
				&& this.firstNanos - earlier.lastNanos < longestGapNanos;
	}

	Stretch until(long nanos) {
		return new Stretch(this.name, this.holder, this.token, this.firstNanos, nanos);
	}

}
