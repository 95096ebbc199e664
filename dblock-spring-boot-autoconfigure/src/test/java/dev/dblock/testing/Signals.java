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
	 * @param process who gets it
	 * @param name its name without {@code SIG}
	 */
	public static void send(long process, String name) {
		try {
			int exit = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process).inheritIO().start().waitFor();
			if (exit != 0) {
				throw new IllegalStateException("SIG" + name + " could not be sent to process " + process);
			}
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
