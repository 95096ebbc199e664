package dev.dblock.reactive;

/**
 * Work that can continue after its sequence has ended or was cancelled, and whose end can
 * be observed.
 */
interface PendingWork {

	/**
	 * Run an action when the work has ended: in another thread, or in this one if it has
	 * ended already.
	 */
	void whenEnded(Runnable action);

}
