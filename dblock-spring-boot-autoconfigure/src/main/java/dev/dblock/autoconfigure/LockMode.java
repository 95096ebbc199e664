package dev.dblock.autoconfigure;

/**
 * Store in which an application keeps its locks.
 */
public enum LockMode {

	/**
	 * MongoDB, or the store of the application's {@code LockRepository} bean.
	 */
	MONGODB,

	/**
	 * The memory of this application. Locks exclude the application's own threads, but no
	 * other instance. For development and tests.
	 */
	LOCAL,

	/**
	 * No store. Every method runs unlocked.
	 */
	NONE

}
