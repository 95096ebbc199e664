package dev.dblock.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

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
	 * Wait until each of several processes has ended, and print how far they are.
	 * @param limit how long they may take together
	 * @param sections how many sections there were
	 * @throws IllegalStateException if one takes longer, or fails
	 */
	static void awaitAll(List<Child> children, Duration limit, LongSupplier sections) throws InterruptedException {
		long start = System.nanoTime();
		for (Child child : children) {
			while (!child.await(10)) {
				long elapsed = Duration.ofNanos(System.nanoTime() - start).toSeconds();
				System.err.printf(Locale.ROOT, "%4d s: %,d sections%n", elapsed, sections.getAsLong());
				if (elapsed > limit.toSeconds()) {
					throw new IllegalStateException(
							child.name + " did not end within " + limit.toMinutes() + " minutes");
				}
			}
			if (child.exitValue() != 0) {
				throw new IllegalStateException(
						child.name + " ended with exit code " + child.exitValue() + "; its log has the cause");
			}
		}
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
