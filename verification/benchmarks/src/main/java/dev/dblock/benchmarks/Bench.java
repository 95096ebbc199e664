package dev.dblock.benchmarks;

import java.io.IOException;
import java.util.List;

/**
 * Resources that the cases of one run share.
 */
final class Bench implements AutoCloseable {

	private final Lab lab;

	private final Workers workers;

	private final boolean quick;

	Bench(Addresses addresses, boolean quick) {
		this.lab = new Lab(addresses);
		this.workers = new Workers(addresses);
		this.quick = quick;
	}

	/**
	 * Return the subjects in this JVM.
	 */
	Lab lab() {
		return this.lab;
	}

	/**
	 * Return other JVMs.
	 */
	List<Worker> workers(int count) throws IOException {
		return this.workers.get(count);
	}

	Addresses addresses() {
		return this.lab.addresses();
	}

	boolean has(Subject subject) {
		return this.lab.has(subject);
	}

	int pick(int full, int quick) {
		return this.quick ? quick : full;
	}

	@Override
	public void close() {
		this.workers.close();
		this.lab.close();
	}

}
