package dev.dblock.faults;

/**
 * Run of a job as the servers have recorded it. Times are milliseconds of their clock.
 *
 * @param job the job
 * @param planned the planned time
 * @param attempt the number of the attempt
 * @param started when it was granted
 * @param ended when its end was recorded; zero if it was not
 * @param outcome the recorded outcome; empty if it was not recorded
 * @param instance the instance to which it was granted
 * @param token the fencing token
 */
record RecordedRun(String job, long planned, int attempt, long started, long ended, String outcome, String instance,
		long token) {

	private static final String ABANDONED = "ABANDONED";

	/**
	 * Return this run as abandoned. An abandoned attempt is removed from the record when
	 * the next one is granted.
	 */
	RecordedRun abandoned() {
		return new RecordedRun(this.job, this.planned, this.attempt, this.started, this.ended, ABANDONED, this.instance,
				this.token);
	}

	boolean isOpen() {
		return this.outcome.isEmpty();
	}

	boolean isFinished() {
		return this.outcome.equals("SUCCEEDED") || this.outcome.equals("FAILED");
	}

	/**
	 * Return whether it is no run, but the record that the planned time was missed.
	 */
	boolean isMissed() {
		return this.outcome.equals("MISSED");
	}

	boolean isAbandoned() {
		return this.outcome.equals(ABANDONED);
	}

}
