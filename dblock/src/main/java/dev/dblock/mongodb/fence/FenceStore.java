package dev.dblock.mongodb.fence;

import java.util.List;

import dev.dblock.store.LeaseKey;

/**
 * The requests to the store that fences need beside those of a transaction.
 */
public interface FenceStore {

	/**
	 * Create the collection of the fences, since a transaction cannot write to one that
	 * is younger than itself.
	 */
	void create();

	/**
	 * Wait for earlier transactions under the lock.
	 * @param lease the acquisition
	 * @param token its token, which is written to the fences
	 * @param slots the fences to write
	 */
	void settle(LeaseKey lease, long token, List<Integer> slots);

	/**
	 * Whether the store has an acquisition as the holder.
	 * @param lease the acquisition
	 */
	boolean isHeld(LeaseKey lease);

}
