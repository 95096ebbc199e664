package dev.dblock.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One {@code mongod} with its port and data folder, which can be killed and started
 * again.
 */
final class MongodProcess {

	/**
	 * Becomes the server, and leaves a shell behind that reads the pipe to this JVM. The
	 * pipe ends without a word when the JVM is gone, however it went; then the server
	 * goes too, with the folder. It also ends when the server died by itself: then there
	 * is nothing to kill, and the log stays. The shell must outlive the signals of a
	 * terminal.
	 */
	private static final String BOUND_TO_THIS_JVM = """
			exec 3<&0
			(
				trap '' INT TERM HUP
				read -r word <&3 || { kill -9 $$ && rm -rf "$0"; } 2>/dev/null
			) &
			exec "$@" </dev/null 3<&-""";

	private static final int EXIT_PORT_TAKEN = 48;

	private static final Duration START_LIMIT = Duration.ofSeconds(180);

	private final Path data;

	private final Path log;

	private final int port;

	private final List<String> arguments;

	private volatile Path binary;

	private volatile @Nullable Process process;

	private long logBefore;

	MongodProcess(Path binary, Path folder, int port, List<String> arguments) {
		this.data = folder.resolve("data-" + port);
		this.log = folder.resolve("mongod-" + port + ".log");
		this.port = port;
		this.binary = binary;
		this.arguments = new ArrayList<>(List.of("--dbpath", this.data.toString(), "--port", Integer.toString(port),
				"--bind_ip", "127.0.0.1", "--nounixsocket"));
		this.arguments.addAll(ServerFolder.ofThisMachine().arguments());
		this.arguments.addAll(arguments);
	}

	private List<String> command() {
		List<String> command = new ArrayList<>(List.of("sh", "-c", BOUND_TO_THIS_JVM,
				Objects.requireNonNull(this.data.getParent()).toString(), this.binary.toString()));
		command.addAll(this.arguments);
		return command;
	}

	int port() {
		return this.port;
	}

	long pid() {
		return requireStarted().pid();
	}

	boolean isAlive() {
		Process process = this.process;
		return process != null && process.isAlive();
	}

	/**
	 * Starts the process without waiting until it answers.
	 */
	void start() {
		try {
			Files.createDirectories(this.data);
			this.logBefore = Files.exists(this.log) ? Files.size(this.log) : 0;
			this.process = new ProcessBuilder(command()).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(this.log.toFile()))
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("mongod could not be started", ex);
		}
	}

	void awaitListening() {
		try {
			Awaitility.await("mongod listens on port " + this.port)
				.atMost(START_LIMIT)
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(20))
				.until(() -> !isAlive() || listens());
		}
		catch (ConditionTimeoutException ex) {
			throw new IllegalStateException("mongod did not start in time; " + lastWords(), ex);
		}
		if (isAlive()) {
			return;
		}
		int exit = requireStarted().exitValue();
		// Two servers can bind a port at once, and then only one can listen on it
		if (exit == EXIT_PORT_TAKEN || hasLogged("error listening for new connections")) {
			throw new PortTakenException(this.port);
		}
		throw new IllegalStateException("mongod ended with exit code " + exit + "; " + lastWords());
	}

	/**
	 * Another server may answer on the port, while this one has not yet found the port in
	 * use.
	 */
	private boolean listens() {
		return hasLogged("waiting for connections");
	}

	private boolean hasLogged(String message) {
		try (InputStream written = Files.newInputStream(this.log)) {
			written.skipNBytes(this.logBefore);
			return new String(written.readAllBytes(), StandardCharsets.UTF_8).toLowerCase(Locale.ROOT)
				.contains(message);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("the log of mongod cannot be read", ex);
		}
	}

	/**
	 * Ends the process as a power cut would. The data stays.
	 */
	void kill() {
		end(Process::destroyForcibly);
	}

	/**
	 * Lets the process shut down, and starts the binary of another version with its data.
	 */
	void replace(Path binary) {
		end(Process::destroy);
		this.binary = binary;
		start();
		awaitListening();
	}

	private void end(Consumer<Process> signal) {
		Process process = this.process;
		if (process == null || !process.isAlive()) {
			return;
		}
		try (OutputStream pipe = process.getOutputStream()) {
			pipe.write("stay\n".getBytes(StandardCharsets.US_ASCII));
		}
		catch (IOException ex) {
			throw new UncheckedIOException("the shell beside mongod " + process.pid() + " is gone", ex);
		}
		finally {
			signal.accept(process);
			process.onExit().join();
		}
	}

	/**
	 * Sends a signal that Java knows no method for.
	 */
	void signal(String signal) {
		Signals.send(pid(), signal);
	}

	private Process requireStarted() {
		Process process = this.process;
		if (process == null) {
			throw new IllegalStateException("mongod on port " + this.port + " was not started yet");
		}
		return process;
	}

	private String lastWords() {
		return "the end of its log:\n" + logged("", 15);
	}

	/**
	 * Returns the last lines of the log in which a pattern is found.
	 */
	String logged(String pattern, int lines) {
		try {
			List<String> found = Files.readAllLines(this.log)
				.stream()
				.filter(Pattern.compile(pattern).asPredicate())
				.toList();
			return String.join("\n", found.subList(Math.max(0, found.size() - lines), found.size()));
		}
		catch (IOException ex) {
			return "its log cannot be read: " + ex;
		}
	}

	/**
	 * Another process took the port after it had been found free.
	 */
	static final class PortTakenException extends IllegalStateException {

		private static final long serialVersionUID = 1L;

		PortTakenException(int port) {
			super("port " + port + " was taken before mongod could bind it");
		}

	}

}
