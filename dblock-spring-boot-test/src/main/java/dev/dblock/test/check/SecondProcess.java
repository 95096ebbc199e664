package dev.dblock.test.check;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.test.check.Contender.Place;
import org.jspecify.annotations.Nullable;

/**
 * A second JVM with contenders of its own. It reads the connection string and then
 * commands, one a line, and ends with the pipe. No argument shows a password.
 */
final class SecondProcess implements AutoCloseable {

	/** The only argument of the second JVM. */
	static final String ARGUMENT = "--second-process";

	/** Other lines are log messages. */
	private static final String ANSWER = "dblock-check> ";

	private static final String ENDED = "";

	private static final int LIMIT_SECONDS = 90;

	/** A new JVM beside others may take long for its first connection. */
	private static final int BUSY_SECONDS = 60;

	private final Process process;

	private final PrintStream commands;

	private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

	private volatile String lastLine = "";

	private SecondProcess(Process process) {
		this.process = process;
		this.commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
		Thread reader = new Thread(this::readAnswers, "dblock-check-reader");
		reader.setDaemon(true);
		reader.start();
	}

	/**
	 * Start a JVM with the class path of this one, and let it connect.
	 */
	static SecondProcess start(String uri, Place place) {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		String classPath = System.getProperty("java.class.path");
		String source = DblockCheck.class.getProtectionDomain().getCodeSource().getLocation().toString();
		// In an executable jar, the class is inside of the only entry of the class path
		List<String> program = source.startsWith("jar:nested:") ? List.of("-jar", classPath)
				: List.of(DblockCheck.class.getName());
		ProcessBuilder builder = new ProcessBuilder(java, "-Xmx256m", "-XX:+UseSerialGC");
		builder.command().addAll(program);
		builder.command().add(ARGUMENT);
		builder.environment().put("CLASSPATH", classPath);
		try {
			SecondProcess process = new SecondProcess(builder.redirectErrorStream(true).start());
			process.ask(String.join("\t", uri, place.collection(), place.prefix(), place.dialect().name(),
					place.folder().toString()));
			return process;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("No second Java process could be started", ex);
		}
	}

	private void readAnswers() {
		try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
			String line;
			while ((line = lines.readLine()) != null) {
				if (line.startsWith(ANSWER)) {
					this.answers.add(line.substring(ANSWER.length()));
				}
				else {
					this.lastLine = line;
				}
			}
		}
		catch (IOException ex) {
			this.lastLine = ex.toString();
		}
		this.answers.add(ENDED);
	}

	/**
	 * Send a command, and wait for its answer.
	 */
	String ask(Object... command) {
		this.commands.println(String.join(" ", List.of(command).stream().map(String::valueOf).toList()));
		try {
			String answer = this.answers.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
			if (answer == null || answer.equals(ENDED)) {
				throw new IllegalStateException("The second process did not answer: " + this.lastLine);
			}
			return answer;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("The check was interrupted", ex);
		}
	}

	/**
	 * End the process at once, as a crash does.
	 */
	void kill() {
		this.process.destroyForcibly().onExit().join();
	}

	@Override
	public void close() {
		kill();
		this.commands.close();
	}

	/**
	 * The second JVM: execute commands until the pipe ends.
	 */
	static void serve(InputStream in, PrintStream out) throws IOException {
		BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
		String[] place = lines.readLine().split("\t");
		CheckedServer server = CheckedServer.connect(place[0], BUSY_SECONDS);
		Contender contender = new Contender(server,
				new Place(place[1], place[2], StatementDialect.valueOf(place[3]), Path.of(place[4])),
				CheckedServer::unnamed, Contender.eager());
		out.println(ANSWER + "ready");
		Held held = new Held();
		String line;
		while ((line = lines.readLine()) != null) {
			String[] command = line.split(" ");
			out.println(ANSWER + switch (command[0]) {
				case "race" -> contender.race(Integer.parseInt(command[1]), Long.parseLong(command[2])).toLine();
				case "sections" -> contender.sections(Long.parseLong(command[1])).toLine();
				case "jobs" ->
					contender.jobs(Integer.parseInt(command[1]), Long.parseLong(command[2]), Long.parseLong(command[3]))
						.toLine();
				case "hold" -> held.acquire(contender, command[1], Long.parseLong(command[2]));
				case "held" -> held.isHeld();
				default -> throw new IllegalArgumentException(command[0]);
			});
		}
	}

	/**
	 * A lock that the second process holds until it is killed.
	 */
	private static final class Held {

		private @Nullable LockHandle handle;

		String acquire(Contender contender, String name, long leaseMillis) {
			LockHandle handle = contender.locks(0)
				.acquire(name, LockOptions.lease(Duration.ofMillis(leaseMillis)).waitUpTo(Duration.ofSeconds(30)));
			this.handle = handle;
			return String.valueOf(handle.token());
		}

		String isHeld() {
			return String.valueOf(this.handle != null && this.handle.isHeld());
		}

	}

}
