package dev.dblock.peers;

import java.time.Duration;

/**
 * Does the work of the jobs, which takes a millisecond, and reports each run.
 */
final class Recorder {

	private final long skew;

	/**
	 * Create a recorder.
	 * @param skew how far the clock of this process is ahead, in milliseconds
	 */
	Recorder(long skew) {
		this.skew = skew;
	}

	/**
	 * Return the true time.
	 * @return milliseconds since the epoch
	 */
	long now() {
		return System.currentTimeMillis() - this.skew;
	}

	void run(String peer, String job, long planned) {
		run(peer, job, planned, now());
	}

	void run(String peer, String job, long planned, long actual) {
		synchronized (System.out) {
			System.out.println(new Run(peer, job, planned, actual).toLine());
		}
		try {
			Thread.sleep(1);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Record a run of a peer that does not know the planned time: the one that the clock
	 * of this process has just reached.
	 */
	void runByOwnClock(String peer, String job) {
		long period = Schedules.PERIODS.getOrDefault(job, Duration.ZERO).toMillis();
		// A timer may fire a few milliseconds early.
		long planned = Math.floorDiv(System.currentTimeMillis() + 50, period) * period;
		run(peer, job, planned);
	}

}
