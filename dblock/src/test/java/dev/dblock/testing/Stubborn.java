package dev.dblock.testing;

import java.util.concurrent.CountDownLatch;

/**
 * Work that ignores interrupts.
 */
public final class Stubborn {

	private Stubborn() {
	}

	/**
	 * Wait to the end and ignore all interrupts.
	 * @param end the end
	 */
	public static void await(CountDownLatch end) {
		boolean ended = false;
		while (!ended) {
			try {
				end.await();
				ended = true;
			}
			catch (InterruptedException ex) {
				ended = false;
			}
		}
	}

}
