package dev.dblock.store;

/**
 * Effect of a release on the fence mark. The mark makes the next holder raise the fence,
 * since a transaction of an earlier holder may still be in progress.
 */
public enum FenceMark {

	/**
	 * Keep it unchanged: this acquisition has not raised the fence.
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
