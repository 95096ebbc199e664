package dev.dblock.testing;

import java.util.concurrent.CountDownLatch;

/**
 * What work does that does not let itself be interrupted.
 */
public final class Stubborn {

	private Stubborn() {
	}

	/**
	 * Wait to the end, whoever interrupts, and forget about that.
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
