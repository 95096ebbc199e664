package dev.dblock.autoconfigure;

/**
 * Where an application keeps its locks.
 */
public enum LockMode {

	/**
	 * In MongoDB, or wherever the {@code LockRepository} bean of the application keeps
	 * them.
	 */
	MONGODB,

	/**
	 * In the memory of this application: they exclude its own threads and no other
	 * instance of it. For development and tests.
	 */
	LOCAL,

	/**
	 * Nowhere: every method runs unlocked.
	 */
	NONE

}
