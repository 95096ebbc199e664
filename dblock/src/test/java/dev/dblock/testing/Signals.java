package dev.dblock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Signals that Java has no method for. A shell sends them, since not every system has a
 * program for it.
 */
public final class Signals {

	private Signals() {
	}

	/**
	 * Send one.
	 * @param process the process that receives it
	 * @param name its name without {@code SIG}
	 */
	public static void send(long process, String name) {
		if (!trySend(process, name)) {
			throw new IllegalStateException("SIG" + name + " could not be sent to process " + process);
		}
	}

	/**
	 * Send one to a process that may be gone.
	 * @param process the process that receives it
	 * @param name its name without {@code SIG}
	 * @return whether it was sent
	 */
	public static boolean trySend(long process, String name) {
		try {
			return new ProcessBuilder("sh", "-c", "kill -" + name + " " + process).inheritIO().start().waitFor() == 0;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("interrupted while a signal was sent", ex);
		}
	}

}
