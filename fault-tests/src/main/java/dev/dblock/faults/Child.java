package dev.dblock.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import dev.dblock.testing.Signals;

/**
 * Process that is killed when this process ends, for whatever reason, even while the
 * child is stopped.
 */
final class Child {

	/**
	 * Replaces itself with the program, and leaves behind a shell that reads the pipe to
	 * this process. When this process is gone, the pipe ends without a line.
	 */
	private static final String BOUND_TO_THIS_JVM = """
			exec 3<&0
			(
				trap '' INT TERM HUP
				read -r word <&3 || kill -9 $$ 2>/dev/null
			) &
			exec "$@" </dev/null 3<&-""";

	private final String name;

	private final Process process;

	private Child(String name, Process process) {
		this.name = name;
		this.process = process;
		CompletableFuture<Void> unused = process.onExit().thenAccept(Child::letGo);
	}

	/**
	 * Start a JVM.
	 * @param name its name
	 * @param folder the folder for its output
	 * @param options options of the JVM
	 * @param environment additional environment variables
	 * @param main the main class
	 * @param arguments the arguments of the main class
	 */
	static Child startJvm(String name, Path folder, List<String> options, Map<String, String> environment,
			Class<?> main, List<String> arguments) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(options);
		command.add(main.getName());
		command.addAll(arguments);
		return start(name, folder, environment, command);
	}

	/**
	 * Start a process.
	 * @param name its name
	 * @param folder the folder for its output
	 * @param environment additional environment variables
	 * @param command the program and its arguments
	 */
	static Child start(String name, Path folder, Map<String, String> environment, List<String> command) {
		List<String> bound = new ArrayList<>(List.of("sh", "-c", BOUND_TO_THIS_JVM, "child"));
		bound.addAll(command);
		ProcessBuilder builder = new ProcessBuilder(bound).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve(name + ".log").toFile()));
		builder.environment().putAll(environment);
		try {
			return new Child(name, builder.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException("a process could not be started", ex);
		}
	}

	private static void letGo(Process process) {
		try (OutputStream pipe = process.getOutputStream()) {
			pipe.write("stay\n".getBytes(StandardCharsets.US_ASCII));
		}
		catch (IOException ex) {
			// The shell beside it is gone, as intended
			return;
		}
	}

	String name() {
		return this.name;
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	void kill() {
		this.process.destroyForcibly().onExit().join();
	}

	/**
	 * Stop the process with a signal.
	 */
	void pause() {
		signal("STOP");
	}

	void resume() {
		signal("CONT");
	}

	private void signal(String signal) {
		boolean unused = Signals.trySend(this.process.pid(), signal);
	}

	/**
	 * Wait for the end of the process.
	 * @return whether it has ended
	 */
	boolean await(long seconds) throws InterruptedException {
		return this.process.waitFor(seconds, TimeUnit.SECONDS);
	}

	/**
	 * Make a JVM print the stacks of its threads.
	 */
	void dumpThreads() {
		signal("QUIT");
	}

	int exitValue() {
		return this.process.exitValue();
	}

}
