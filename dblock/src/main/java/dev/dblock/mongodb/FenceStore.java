package dev.dblock.mongodb;

import java.util.List;

import dev.dblock.store.LeaseKey;

/**
 * The requests to the store that fences need in addition to those in a transaction.
 */
interface FenceStore {

	/**
	 * Create the collection of the fences, since a transaction cannot write to a
	 * collection that was created after its begin.
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
	 * Return whether an acquisition is the holder according to the store.
	 * @param lease the acquisition
	 */
	boolean isHeld(LeaseKey lease);

}
