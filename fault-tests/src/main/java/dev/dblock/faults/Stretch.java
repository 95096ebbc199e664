package dev.dblock.faults;

import org.jspecify.annotations.Nullable;

/**
 * For how long the servers were seen to have a lock in one state.
 *
 * @param name the lock
 * @param holder who has an unexpired lease on it; {@code null} when it is free
 * @param token the last reserved token
 * @param firstNanos when it was first seen so
 * @param lastNanos when it was last seen so
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
