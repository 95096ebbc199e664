package dev.dblock.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import org.bson.Document;

/**
 * Several JVMs that do the same work at the same time. They are started on first use and
 * kept, so that they are warm for the next case.
 */
final class Workers implements AutoCloseable {

	private final Addresses addresses;

	private final List<Worker> started = new ArrayList<>();

	Workers(Addresses addresses) {
		this.addresses = addresses;
	}

	List<Worker> get(int count) throws IOException {
		while (this.started.size() < count) {
			this.started.add(Worker.start(this.addresses));
		}
		return this.started.subList(0, count);
	}

	/**
	 * Send the same order to all workers.
	 * @param workers the JVMs
	 * @param order the order
	 * @return their answers
	 * @throws IOException if the connection to a worker failed
	 */
	static List<Document> callAll(List<Worker> workers, Document order) throws IOException {
		for (Worker worker : workers) {
			worker.send(order);
		}
		List<Document> answers = new ArrayList<>();
		for (Worker worker : workers) {
			answers.add(worker.receive());
		}
		return answers;
	}

	@Override
	public void close() {
		this.started.forEach(Worker::close);
		this.started.clear();
	}

}
