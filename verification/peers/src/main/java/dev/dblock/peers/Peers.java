package dev.dblock.peers;

import java.util.List;

/**
 * The names of the peers with their settings, in the order of the table.
 */
final class Peers {

	static final String DBLOCK = "dblock, all defaults";

	static final String SHEDLOCK = "ShedLock, no `lockAtLeastFor`";

	static final String SHEDLOCK_AT_LEAST = "ShedLock, `lockAtLeastFor` of 90 % of the period";

	static final String QUARTZ = "Quartz, clustered";

	static final String QUARTZ_WITHIN_LOCK = "Quartz, clustered, `acquireTriggersWithinLock`";

	static final String DB_SCHEDULER = "db-scheduler (polls each 10 s)";

	static final String DB_SCHEDULER_POLLING = "db-scheduler, `pollingInterval` 250 ms";

	static final String JOBRUNR = "JobRunr (polls each 15 s)";

	static final String JOBRUNR_POLLING = "JobRunr, `pollInterval` 5 s";

	static final List<String> ALL = List.of(DBLOCK, SHEDLOCK, SHEDLOCK_AT_LEAST, QUARTZ, QUARTZ_WITHIN_LOCK,
			DB_SCHEDULER, DB_SCHEDULER_POLLING, JOBRUNR, JOBRUNR_POLLING);

	private Peers() {
	}

	/**
	 * Return whether a peer runs a job. JobRunr refuses schedules of less than five
	 * seconds.
	 */
	static boolean runs(String peer, String job) {
		return job.equals(Schedules.FIVE) || !peer.equals(JOBRUNR) && !peer.equals(JOBRUNR_POLLING);
	}

}
