package dev.dblock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

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
		if (name.equals("STOP")) {
			awaitStopped(process);
		}
	}

	/**
	 * Wait until no thread of a process runs any more. On a busy machine, some go on for
	 * a while after the signal.
	 */
	private static void awaitStopped(long process) {
		Path threads = Path.of("/proc", Long.toString(process), "task");
		if (Files.isDirectory(threads)) {
			Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(1)).until(() -> {
				try (Stream<Path> all = Files.list(threads)) {
					return all.allMatch(Signals::isStopped);
				}
			});
		}
	}

	private static boolean isStopped(Path thread) {
		try {
			String state = Files.readString(thread.resolve("stat"));
			// The name before it can have any characters
			return "TtZX".indexOf(state.charAt(state.lastIndexOf(')') + 2)) >= 0;
		}
		catch (IOException ex) {
			return true;
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
