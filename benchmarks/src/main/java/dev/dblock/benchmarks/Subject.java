package dev.dblock.benchmarks;

/**
 * What is measured beside each other. Public for the code that JMH generates.
 */
public enum Subject {

	/**
	 * The engine as an application has it, with all defaults.
	 */
	DBLOCK("dblock"),

	/**
	 * The driver's {@code findAndModify} and {@code updateOne} on a plain document, with
	 * the same write concern, as an application sends them: the driver may repeat each
	 * once, so the servers keep a record of it.
	 */
	RAW("two raw writes"),

	/**
	 * The same by a client that repeats nothing: no lock, but the least that one between
	 * processes could cost.
	 */
	UNREPEATED("two raw writes, never repeated"),

	/**
	 * ShedLock on the same replica set, asked again every 50 ms where it has to wait.
	 */
	SHEDLOCK("ShedLock"),

	/**
	 * Redisson's lock on a Redis that keeps nothing on disk.
	 */
	REDISSON("Redisson"),

	/**
	 * A fair lock of the JDK: no process but this one.
	 */
	FAIR_LOCK("fair ReentrantLock");

	private final String label;

	Subject(String label) {
		this.label = label;
	}

	String label() {
		return this.label;
	}

}
