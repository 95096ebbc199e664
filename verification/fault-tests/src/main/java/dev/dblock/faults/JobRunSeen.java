package dev.dblock.faults;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.dblock.faults.JobEvent.What;
import org.jspecify.annotations.Nullable;

/**
 * Observed grant of a planned time, with the events of its worker and the record of the
 * servers.
 *
 * @param job the job
 * @param planned the planned time, in milliseconds
 * @param attempt the number of the attempt
 * @param started when it was granted, in milliseconds of the server's clock
 * @param instance the instance to which it was granted
 * @param begun when its work began, in {@code nanoTime}; zero if it never did
 * @param ended when its work ended; zero if it never did
 * @param released when its release was confirmed; zero if it was not
 * @param recorded the record of the servers; {@code null} if it was not observed
 */
record JobRunSeen(String job, long planned, int attempt, long started, String instance, long begun, long ended,
		long released, @Nullable RecordedRun recorded) {

	/**
	 * Return all grants of a history, in the order of planned times and attempts.
	 */
	static List<JobRunSeen> in(JobHistory history) {
		Map<String, JobRunSeen> runs = new LinkedHashMap<>();
		for (RecordedRun run : history.recorded()) {
			runs.put(run.job() + "/" + run.token(), new JobRunSeen(run.job(), run.planned(), run.attempt(),
					run.started(), run.instance(), 0, 0, 0, run));
		}
		for (JobEvent event : history.events()) {
			if (event.what() == What.BEGUN || event.what() == What.ENDED || event.what() == What.RELEASED) {
				runs.merge(event.job() + "/" + event.token(), of(event), JobRunSeen::and);
			}
		}
		List<JobRunSeen> sorted = new ArrayList<>(runs.values());
		sorted.sort(Comparator.comparing(JobRunSeen::job)
			.thenComparing(JobRunSeen::planned)
			.thenComparing(JobRunSeen::attempt)
			.thenComparing(JobRunSeen::started));
		return sorted;
	}

	private static JobRunSeen of(JobEvent event) {
		return new JobRunSeen(event.job(), event.planned(), event.attempt(), event.started(),
				Fleet.name(event.worker()) + "-" + event.life(), (event.what() == What.BEGUN) ? event.nanos() : 0,
				(event.what() == What.ENDED) ? event.nanos() : 0, (event.what() == What.RELEASED) ? event.nanos() : 0,
				null);
	}

	private JobRunSeen and(JobRunSeen other) {
		return new JobRunSeen(this.job, this.planned, this.attempt, this.started, this.instance,
				Math.max(this.begun, other.begun), Math.max(this.ended, other.ended),
				Math.max(this.released, other.released), this.recorded);
	}

	boolean isOf(int worker) {
		return this.instance.startsWith(Fleet.name(worker) + "-");
	}

	boolean isRepeatable() {
		return this.job.startsWith(CronJobs.REPEATED);
	}

	boolean hasBegun() {
		return this.begun != 0;
	}

	/**
	 * Return whether the servers recorded its end. The worker may not know about it,
	 * since it abandons a release that gets no answer.
	 */
	boolean isFinished() {
		return (this.recorded != null) ? this.recorded.isFinished() : this.released != 0 && hasBegun();
	}

	/**
	 * Return whether the work was done, whatever the servers recorded.
	 */
	boolean isDone() {
		return this.ended != 0 || isFinished();
	}

	boolean isAbandoned() {
		return this.recorded != null && this.recorded.isAbandoned();
	}

	/**
	 * Describe the planned time of this attempt.
	 */
	String plannedTime() {
		return plannedTime(this.job, this.planned);
	}

	static String plannedTime(String job, long planned) {
		return job + " at " + Instant.ofEpochMilli(planned);
	}

	/**
	 * Return when the lock was free again and its worker knew about it, in
	 * {@code nanoTime}; {@link Long#MAX_VALUE} if that is not known.
	 */
	long free(JobHistory history) {
		if (this.recorded == null) {
			return (this.released != 0) ? this.released : Long.MAX_VALUE;
		}
		return (this.recorded.ended() != 0) ? Math.max(this.released, history.nanosOf(this.recorded.ended()))
				: Long.MAX_VALUE;
	}

	String describe(JobHistory history) {
		return "attempt %d on %s, granted %+d ms, begun %s, ended %s, released %s, recorded %s".formatted(this.attempt,
				this.instance, this.started - this.planned, after(history, this.begun), after(history, this.ended),
				after(history, this.released), (this.recorded != null) ? "'" + this.recorded.outcome() + "'" : "no");
	}

	private String after(JobHistory history, long nanos) {
		return (nanos != 0) ? "%+d ms".formatted(history.millisOf(nanos) - this.planned) : "never";
	}

}
