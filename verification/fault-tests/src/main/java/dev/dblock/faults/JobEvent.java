package dev.dblock.faults;

import java.util.List;

/**
 * Event of a worker for a planned time of a job.
 *
 * @param what the kind of the event
 * @param worker the number of the worker
 * @param life the number of the worker's process
 * @param job the job
 * @param planned the planned time, in milliseconds of the server's clock
 * @param attempt the number of the attempt
 * @param started when the server granted it, in milliseconds of its clock
 * @param token the fencing token
 * @param nanos the {@code nanoTime} of this machine
 */
record JobEvent(What what, int worker, int life, String job, long planned, int attempt, long started, long token,
		long nanos) {

	static JobEvent parse(String line) {
		List<String> cells = List.of(line.split("\t"));
		return new JobEvent(What.valueOf(cells.get(0)), Integer.parseInt(cells.get(1)), Integer.parseInt(cells.get(2)),
				cells.get(3), Long.parseLong(cells.get(4)), Integer.parseInt(cells.get(5)),
				Long.parseLong(cells.get(6)), Long.parseLong(cells.get(7)), Long.parseLong(cells.get(8)));
	}

	String line() {
		return String.join("\t", this.what.name(), Integer.toString(this.worker), Integer.toString(this.life), this.job,
				Long.toString(this.planned), Integer.toString(this.attempt), Long.toString(this.started),
				Long.toString(this.token), Long.toString(this.nanos));
	}

	/**
	 * Kind of an event.
	 */
	enum What {

		/**
		 * The application is about to schedule its jobs; {@code started} is its own
		 * clock.
		 */
		STARTING,
		/** The application has started. */
		READY,
		/** The method was called. */
		BEGUN,
		/** The method is about to return. */
		ENDED,
		/** The lock was released, or the release was abandoned. */
		RELEASED,
		/** The planned time was reported as missed. */
		MISSED,
		/** The planned time was reported as skipped. */
		SKIPPED,
		/** The job is about to be paused. */
		PAUSED,
		/** The job was resumed. */
		RESUMED

	}

}
