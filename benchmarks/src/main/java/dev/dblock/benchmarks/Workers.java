package dev.dblock.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import org.bson.Document;

/**
 * Several JVMs that do the same at the same time. They are started when they are first
 * needed, and kept, so that they are warm for the next case.
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
	 * Tell all the same.
	 * @param workers the JVMs
	 * @param order what to do
	 * @return their answers
	 * @throws IOException when one is gone
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
