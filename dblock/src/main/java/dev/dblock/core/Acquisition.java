package dev.dblock.core;

import dev.dblock.LockHandle;

/**
 * A thread's way to a lock, told to whoever follows it.
 */
interface Acquisition {

	Acquisition UNOBSERVED = new Acquisition() {
	};

	/**
	 * The thread has to wait. Called once.
	 */
	default void waiting() {
	}

	default void acquired(LockHandle handle) {
	}

	default void unavailable() {
	}

	default void failed(Throwable ex) {
	}

}
