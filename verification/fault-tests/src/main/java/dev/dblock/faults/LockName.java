package dev.dblock.faults;

import java.time.Duration;
import java.util.List;

/**
 * Lock of a run.
 *
 * @param name the name of the lock
 * @param lease its lease
 */
record LockName(String name, Duration lease) {

	static final List<LockName> ALL = List.of(new LockName("red", Duration.ofSeconds(3)),
			new LockName("green", Duration.ofSeconds(3)), new LockName("blue", Duration.ofSeconds(3)),
			new LockName("slow", Duration.ofSeconds(10)));

	static final Duration CLOCK_ALLOWANCE = Duration.ofMillis(500);

	/**
	 * Return the lease after an extension.
	 */
	Duration extendedLease() {
		return this.lease.multipliedBy(5).dividedBy(2);
	}

	static List<String> names() {
		return ALL.stream().map(LockName::name).toList();
	}

	static LockName of(String name) {
		return ALL.stream().filter((lock) -> lock.name.equals(name)).findFirst().orElseThrow();
	}

	static Duration leaseOf(String name) {
		return of(name).lease();
	}

	/**
	 * Return how long the server keeps the lock for its holder, counted from the start of
	 * the lease.
	 * @param name the name of the lock
	 * @return the lease and the allowance
	 */
	static Duration untilFree(String name) {
		return leaseOf(name).plus(allowance(name));
	}

	static Duration allowance(String name) {
		return CLOCK_ALLOWANCE.plus(leaseOf(name).dividedBy(1000));
	}

}
