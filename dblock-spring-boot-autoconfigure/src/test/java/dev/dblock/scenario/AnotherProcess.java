package dev.dblock.scenario;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.testing.Signals;

/**
 * A JVM with the class path of this one, to be killed or to be stopped for a while.
 */
final class AnotherProcess implements AutoCloseable {

	private final Process process;

	private final BufferedReader output;

	private final Path errors;

	private AnotherProcess(Process process, Path errors) {
		this.process = process;
		this.errors = errors;
		this.output = process.inputReader(StandardCharsets.UTF_8);
	}

	static AnotherProcess start(Class<?> main, String... arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC",
						"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), main.getName()));
		command.addAll(List.of(arguments));
		Path errors = Files.createTempFile("another-process", ".err");
		return new AnotherProcess(new ProcessBuilder(command).redirectError(errors.toFile()).start(), errors);
	}

	/**
	 * Wait for a line that begins with a word.
	 * @param word the word
	 * @return the rest of the line
	 */
	String await(String word) {
		try {
			for (String line = this.output.readLine(); line != null; line = this.output.readLine()) {
				if (line.startsWith(word + " ")) {
					return line.substring(word.length() + 1);
				}
			}
			throw new AssertionError(
					"The other JVM has ended without the word '" + word + "': " + Files.readString(this.errors));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Kill it, and wait until it is gone.
	 */
	void kill() {
		this.process.destroyForcibly().onExit().join();
	}

	/**
	 * Pause it, like a long garbage collection or a migration of its machine.
	 */
	void pause() {
		Signals.send(this.process.pid(), "STOP");
	}

	void goOn() {
		Signals.send(this.process.pid(), "CONT");
	}

	@Override
	public void close() throws IOException {
		kill();
		Files.delete(this.errors);
	}

}
