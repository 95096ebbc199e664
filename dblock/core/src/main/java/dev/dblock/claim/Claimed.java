package dev.dblock.claim;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What the store recorded with the grant of a claim.
 */
public interface Claimed {

	/**
	 * Return what handles of the lock show.
	 * @return the value; {@code null} if the record does not have it
	 */
	@Nullable Object value();

	/**
	 * Return what is to be reported about the grant before this one.
	 * @return the news; {@code null} if there are none
	 */
	Claim.@Nullable News earlier();

	/**
	 * Return the end of this grant for the listeners.
	 * @param end how it ended
	 * @param held how long the lock was held
	 * @return the news; {@code null} if there are none
	 */
	Claim.@Nullable News ended(Claim.End end, Duration held);

	/**
	 * Return what a handle of a lock shows.
	 * @param handle the handle
	 * @return the value; {@code null} if it has none
	 */
	static @Nullable Object of(Object handle) {
		Claimed claimed = (handle instanceof Holder holder) ? holder.claimed() : null;
		return (claimed != null) ? claimed.value() : null;
	}

	/**
	 * A handle of a lock that can be acquired for a claim.
	 */
	interface Holder {

		/**
		 * Return what was recorded with the grant.
		 * @return what was recorded; {@code null} for a plain lock
		 */
		@Nullable Claimed claimed();

	}

}
