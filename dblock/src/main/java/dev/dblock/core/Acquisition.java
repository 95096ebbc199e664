package dev.dblock.core;

import dev.dblock.LockHandle;

/**
 * A thread's attempt to acquire a lock, reported to its observer.
 */
interface Acquisition {

	Acquisition UNOBSERVED = new Acquisition() {
	};

	/**
	 * Report that the thread has to wait. Called once.
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
