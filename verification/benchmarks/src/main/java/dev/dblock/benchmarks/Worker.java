package dev.dblock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

import org.bson.Document;

/**
 * Another JVM with the same class path and its own subjects. It receives orders as lines
 * of JSON and answers each with one line. It ends when this JVM ends.
 */
final class Worker implements AutoCloseable {

	private final Process process;

	private final PrintWriter orders;

	private final BufferedReader answers;

	private Worker(Process process) {
		this.process = process;
		this.orders = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
		this.answers = process.inputReader(StandardCharsets.UTF_8);
	}

	/**
	 * Start a JVM.
	 * @param addresses the addresses of its servers
	 * @return the JVM
	 * @throws IOException if it does not start
	 */
	static Worker start(Addresses addresses) throws IOException {
		// This collector leaves the cores to the measured work, and the heap size after a
		// collection is exact
		List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:+UseSerialGC", "-Xmx512m", "-cp", System.getProperty("java.class.path"),
				WorkerMain.class.getName(), addresses.mongodb(), addresses.database(),
				Objects.requireNonNullElse(addresses.redis(), ""));
		return new Worker(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
	}

	/**
	 * Send an order without waiting for the answer.
	 */
	void send(Document order) {
		this.orders.println(order.toJson());
	}

	/**
	 * Wait for the answer to the earliest unanswered order.
	 */
	Document receive() throws IOException {
		String line = this.answers.readLine();
		if (line == null) {
			throw new IllegalStateException("The JVM " + this.process.pid() + " is gone");
		}
		Document answer = Document.parse(line);
		if (answer.containsKey(WorkerMain.FAILURE)) {
			throw new IllegalStateException(
					"The JVM " + this.process.pid() + " failed: " + answer.getString(WorkerMain.FAILURE));
		}
		return answer;
	}

	Document call(Document order) throws IOException {
		send(order);
		return receive();
	}

	@Override
	public void close() {
		this.orders.close();
		this.process.onExit().join();
	}

}
