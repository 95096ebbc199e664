package dev.dblock.faults;

import org.jspecify.annotations.Nullable;

/**
 * Time for which the servers were seen to have a lock in one state.
 *
 * @param name the name of the lock
 * @param holder the holder of an unexpired lease; {@code null} if the lock is free
 * @param token the last reserved token
 * @param firstNanos when the state was first seen
 * @param lastNanos when the state was last seen
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
