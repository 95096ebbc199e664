package dev.dblock.benchmarks;

/**
 * Subjects that are compared with each other. Public for the code that JMH generates.
 */
public enum Subject {

	/**
	 * dblock's engine as an application uses it, with all defaults.
	 */
	DBLOCK("dblock"),

	/**
	 * The driver's {@code findAndModify} and {@code updateOne} on a plain document, with
	 * the same write concern, as an application sends them: the driver may retry each
	 * once, so the servers keep a record of it.
	 */
	RAW("two raw writes"),

	/**
	 * The same writes by a client that does not retry: not a lock, but the minimum cost
	 * of a lock between processes.
	 */
	UNREPEATED("two raw writes, never repeated"),

	/**
	 * ShedLock on the same replica set, retried every 50 ms when it has to wait.
	 */
	SHEDLOCK("ShedLock"),

	/**
	 * dblock's provider for ShedLock, called like the one above.
	 */
	PROVIDER("dblock's provider for ShedLock"),

	/**
	 * The same, beside ShedLock's provider, as during a rolling update.
	 */
	BOTH_PROVIDERS("both providers"),

	/**
	 * Redisson's lock on a Redis server without persistence.
	 */
	REDISSON("Redisson"),

	/**
	 * A fair lock of the JDK, which excludes only threads of this process.
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
