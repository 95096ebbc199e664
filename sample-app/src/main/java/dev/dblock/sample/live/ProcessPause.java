package dev.dblock.sample.live;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Actually stops this process for a while, with {@code SIGSTOP}, as a debugger or the
 * migration of a virtual machine does. Another process has to wake it up, so a shell
 * remains beside it.
 */
final class ProcessPause {

	private static final Path SHELL = Path.of("/bin/sh");

	/** Ctrl-C in a terminal reaches the shell, but not a stopped process. */
	private static final String STOP_AND_CONTINUE = """
			trap 'kill -CONT "$1"; exit' INT TERM HUP
			kill -STOP "$1"
			left=$2
			while [ "$left" -gt 0 ] && kill -0 "$1" 2>/dev/null; do
				sleep 1
				left=$((left - 1))
			done
			kill -CONT "$1" 2>/dev/null
			""";

	private ProcessPause() {
	}

	/**
	 * Return whether this system has signals, and a shell to send them.
	 */
	static boolean isPossible() {
		return Files.isExecutable(SHELL);
	}

	/**
	 * Stop this process.
	 * @param pause how long, in whole seconds
	 */
	static void pause(Duration pause) throws InterruptedException {
		String pid = Long.toString(ProcessHandle.current().pid());
		try {
			int unused = new ProcessBuilder(SHELL.toString(), "-c", STOP_AND_CONTINUE, "pause", pid,
					Long.toString(pause.toSeconds()))
				.redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
				.redirectOutput(Redirect.DISCARD)
				.redirectError(Redirect.DISCARD)
				.start()
				.waitFor();
		}
		catch (IOException ex) {
			throw new IllegalStateException("No shell could be started to stop this process", ex);
		}
	}

}
