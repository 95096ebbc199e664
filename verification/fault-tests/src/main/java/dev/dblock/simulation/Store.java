package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import dev.dblock.LockInfo;
import dev.dblock.job.JobRun;
import dev.dblock.store.LockRepository;
import org.jspecify.annotations.Nullable;

/**
 * The store of all locks of a simulation. Apart from {@link #open}, its methods are
 * called in the process of the server.
 */
interface Store {

	/**
	 * Create the repository of an instance, in one of its threads.
	 */
	LockRepository open(Instance instance);

	/**
	 * Return the ledger for an instance, if transactions can be fenced here.
	 */
	default @Nullable Ledger ledger(Instance instance) {
		return null;
	}

	/**
	 * Interrupt the reports of releases to an instance for a while.
	 */
	void disturbReports(Instance instance);

	/**
	 * Elect another primary, if there are several servers.
	 */
	default void elect() {
	}

	/**
	 * Return the time of the server.
	 */
	Instant time();

	/**
	 * Return the locks that are stored.
	 */
	List<LockInfo> locks();

	/**
	 * Return the runs that are recorded under the name of a lock.
	 */
	List<JobRun> runs(String name);

	/**
	 * Return how long a lock remains unavailable.
	 */
	default Duration remaining(String name) {
		return locks().stream()
			.filter((lock) -> lock.name().equals(name))
			.map(LockInfo::remaining)
			.findFirst()
			.orElse(Duration.ZERO);
	}

}
