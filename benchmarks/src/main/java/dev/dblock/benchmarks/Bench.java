package dev.dblock.benchmarks;

/**
 * What the cases of one run share.
 */
final class Bench implements AutoCloseable {

	private final Lab lab;

	private final boolean quick;

	Bench(Addresses addresses, boolean quick) {
		this.lab = new Lab(addresses);
		this.quick = quick;
	}

	Lab lab() {
		return this.lab;
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
		this.lab.close();
	}

}
