package dev.dblock.peers;

import java.util.Optional;

/**
 * One run of a job, as an instance reports it in a line of its output.
 *
 * @param peer the name of the peer
 * @param job the name of the job
 * @param planned the planned time, in milliseconds since the epoch
 * @param actual when the run began by the true clock, in milliseconds since the epoch
 */
record Run(String peer, String job, long planned, long actual) {

	private static final String PREFIX = "run\t";

	String toLine() {
		return PREFIX + this.peer + "\t" + this.job + "\t" + this.planned + "\t" + this.actual;
	}

	static Optional<Run> parse(String line) {
		if (!line.startsWith(PREFIX)) {
			return Optional.empty();
		}
		String[] parts = line.split("\t");
		return Optional.of(new Run(parts[1], parts[2], Long.parseLong(parts[3]), Long.parseLong(parts[4])));
	}

}
