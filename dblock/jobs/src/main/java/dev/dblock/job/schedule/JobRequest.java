package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.JobMethod.Declaration;
import org.jspecify.annotations.Nullable;

/**
 * A request of a schedule for its lock, as one of possibly several for the same planned
 * time.
 *
 * @param schedule determines the planned time; {@code null} for a call without one
 * @param asOf the latest planned time that was fired when the first request was made, if
 * the schedule plans instants; a later one overtakes the request
 * @param look whether it only checks for a run that crashed
 * @param earlier the number of requests before
 * @param timeouts how many of those were cut short by a time limit, in a row
 * @param inDoubt the firing of earlier requests without an answer, if any
 * @param names the names of the locks, as evaluated for the first request. Otherwise, a
 * later one could be granted the planned time again under another name
 * @param shards how many shards the planned time has; 0 for the declared number
 */
record JobRequest(@Nullable Schedule schedule, @Nullable Instant asOf, boolean look, int earlier, int timeouts,
		@Nullable JobFiring inDoubt, Map<Object, String> names, int shards) {

	/**
	 * How long a server may take to answer a retry, which occupies a thread of the
	 * scheduler. The limit is doubled after each request that it cut short, so that a
	 * slow server can answer.
	 */
	private static final Duration PATIENCE = Duration.ofMillis(1250);

	private static final int MOST_DOUBLINGS = 20;

	/**
	 * Create the first request for a planned time.
	 */
	static JobRequest first(@Nullable Schedule schedule) {
		return new JobRequest(schedule, (schedule instanceof Schedule.Planned planned) ? planned.at() : null, false, 0,
				0, null, Map.of(), 0);
	}

	/**
	 * Create the request that repeats a run if it crashed.
	 * @param latest the latest planned time that was fired and is due, if any
	 */
	static JobRequest look(JobRun run, @Nullable Instant latest) {
		Instant planned = run.plannedAt();
		return new JobRequest(new Schedule.Planned(planned),
				(latest != null && latest.isAfter(planned)) ? latest : planned, true, 0, 0, null, Map.of(),
				run.shards());
	}

	/**
	 * Create the first request for a shard.
	 * @param begun the run by which its planned time has begun
	 * @param latest the latest planned time that was fired and is due, if any
	 */
	static JobRequest shard(JobRun begun, @Nullable Instant latest) {
		Instant planned = begun.plannedAt();
		return new JobRequest(new Schedule.Planned(planned),
				(latest != null && latest.isAfter(planned)) ? latest : planned, false, 0, 0, null, Map.of(),
				begun.shards());
	}

	/**
	 * Return the next request for the same planned time.
	 * @param inDoubt the firing to repeat; {@code null} for a new one
	 */
	JobRequest next(int timeouts, @Nullable JobFiring inDoubt) {
		return new JobRequest(this.schedule, this.asOf, this.look, this.earlier + 1, timeouts, inDoubt, this.names,
				this.shards);
	}

	JobRequest named(Map<Object, String> names) {
		return new JobRequest(this.schedule, this.asOf, this.look, this.earlier, this.timeouts, this.inDoubt,
				Map.copyOf(names), this.shards);
	}

	/**
	 * Return the same request for a planned time with a number of shards.
	 */
	JobRequest shards(int count) {
		return new JobRequest(this.schedule, this.asOf, this.look, this.earlier, this.timeouts, this.inDoubt,
				this.names, count);
	}

	/**
	 * Return the firing to request.
	 * @param schedule the schedule of this request
	 * @param scheduled whether a schedule plans the time; otherwise it can start at any
	 * time
	 * @param plan the schedules of the job as text; {@code null} if it is not known
	 */
	JobFiring firing(Declaration declaration, Schedule schedule, boolean scheduled, @Nullable String plan) {
		JobFiring firing = this.inDoubt;
		if (firing == null) {
			firing = JobFiring.of(declaration.id(), schedule, declaration.rerun())
				.shards((this.shards > 0) ? this.shards : declaration.shards());
			if (scheduled) {
				firing = firing.startWithin(declaration.startWithin(), plan).method(declaration.method());
			}
		}
		return isRepeated() ? firing.answerWithin(patience(this.timeouts)) : firing;
	}

	/**
	 * Return the time limit of a request that occupies a thread of the scheduler.
	 * @param timeouts how many of the previous requests were cut short, in a row
	 */
	static Duration patience(int timeouts) {
		return PATIENCE.multipliedBy(1L << Math.min(timeouts, MOST_DOUBLINGS));
	}

	/**
	 * Whether an earlier request was for the same planned time. Then the firing has a
	 * time limit and does not wait for the lock, since it would occupy a thread of the
	 * scheduler.
	 */
	boolean isRepeated() {
		return this.look || this.earlier > 0;
	}

	/**
	 * Whether a later planned time supersedes the request.
	 * @param latest the latest planned time that was fired and is due, if any
	 */
	boolean isOvertakenBy(@Nullable Instant latest) {
		return this.asOf != null && latest != null && latest.isAfter(this.asOf);
	}

}
