package dev.dblock.store;

/**
 * What a release does to the mark by which the next holder is told to raise the fence,
 * since a transaction of an earlier one may still be under way.
 */
public enum FenceMark {

	/**
	 * Leave it as it is: this acquisition has not raised the fence.
	 */
	KEEP,

	/**
	 * Remove it: the fence was raised when the lock was granted.
	 */
	CLEAR,

	/**
	 * Set it: the outcome of a transaction of this acquisition is not known.
	 */
	SET

}
