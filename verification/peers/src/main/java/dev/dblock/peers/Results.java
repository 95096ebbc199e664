package dev.dblock.peers;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What the peers did in a window of true time.
 *
 * @param from its begin, in milliseconds since the epoch
 * @param to its end, exclusive
 * @param runs all runs, also those of planned times outside the window
 */
record Results(long from, long to, List<Run> runs) {

	/**
	 * Sum up the runs of a peer.
	 * @param peer the name of the peer
	 * @return what it did with the planned times in the window
	 */
	Summary of(String peer) {
		Summary summary = Summary.NONE;
		for (String job : Schedules.PERIODS.keySet()) {
			if (Peers.runs(peer, job)) {
				summary = summary.plus(of(peer, job));
			}
		}
		return summary;
	}

	private Summary of(String peer, String job) {
		long period = Schedules.PERIODS.getOrDefault(job, Round.WINDOW).toMillis();
		// The planned times of db-scheduler can be between seconds.
		Map<Long, List<Run>> byPeriod = this.runs.stream()
			.filter((run) -> run.peer().equals(peer) && run.job().equals(job))
			.collect(Collectors.groupingBy((run) -> Math.floorDiv(run.planned(), period) * period));
		Summary summary = Summary.NONE;
		for (long time = this.from; time < this.to; time += period) {
			List<Run> runs = byPeriod.getOrDefault(time, List.of());
			long early = runs.stream().mapToLong((run) -> run.planned() - run.actual()).max().orElse(0);
			long late = runs.stream().mapToLong((run) -> run.actual() - run.planned()).max().orElse(0);
			summary = summary.plus(new Summary(1, (runs.size() > 1) ? 1 : 0, runs.isEmpty() ? 1 : 0, Math.max(0, early),
					Math.max(0, late)));
		}
		return summary;
	}

	/**
	 * What a peer did with planned times.
	 *
	 * @param planned how many there were
	 * @param repeated how many ran more than once
	 * @param missing how many did not run
	 * @param early how long before its planned time the earliest run began, in
	 * milliseconds
	 * @param late how long after its planned time the latest run began, in milliseconds
	 */
	record Summary(int planned, int repeated, int missing, long early, long late) {

		static final Summary NONE = new Summary(0, 0, 0, 0, 0);

		Summary plus(Summary other) {
			return new Summary(this.planned + other.planned, this.repeated + other.repeated,
					this.missing + other.missing, Math.max(this.early, other.early), Math.max(this.late, other.late));
		}

	}

}
