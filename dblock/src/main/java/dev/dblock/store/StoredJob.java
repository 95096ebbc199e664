package dev.dblock.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.job.JobRun;
import dev.dblock.job.JobStatus;
import org.jspecify.annotations.Nullable;

/**
 * The run record of a job as it is stored under the name of its lock.
 *
 * @param last the last run
 * @param runs the runs before it, the oldest first
 * @param paused whether the job is paused
 * @param pausedBy the operator that paused it
 * @param pausedAt when it was paused, in milliseconds of the store's clock
 * @param resumedAt when it was last resumed, in milliseconds of the store's clock
 */
public record StoredJob(@Nullable StoredRun last, List<StoredRun> runs, boolean paused, @Nullable String pausedBy,
		@Nullable Long pausedAt, @Nullable Long resumedAt) {

	/** How many runs are kept before the last one. */
	public static final int RUNS_BEFORE = 19;

	/** The record of a job without runs that is not paused. */
	public static final StoredJob EMPTY = new StoredJob(null, List.of(), false, null, null, null);

	/**
	 * Return the record after a grant.
	 * @param decision the decision
	 * @param request the request that was granted
	 * @param token its fencing token
	 * @param now the time of the grant, in milliseconds of the store's clock
	 * @return the record with a new last run
	 */
	public StoredJob granted(JobDecision decision, AcquireRequest request, long token, long now) {
		List<StoredRun> before = new ArrayList<>(this.runs);
		StoredRun ended = decision.moved();
		if (ended != null) {
			before.add(ended);
		}
		StoredRun next = new StoredRun(decision.planned(), decision.attempt(), request.requireFiring().id(),
				decision.again(), request.key().holder(), now, null, null, request.acquirer(), token, null);
		return new StoredJob(next, List.copyOf(before.subList(Math.max(0, before.size() - RUNS_BEFORE), before.size())),
				this.paused, this.pausedBy, this.pausedAt, this.resumedAt);
	}

	/**
	 * Return the record after a release.
	 * @param holder the id of the acquisition that is released
	 * @param end how its run ended
	 * @param now the time of the release, in milliseconds of the store's clock
	 * @return the record, unchanged if the last run is another one
	 */
	public StoredJob ended(String holder, RunEnd end, long now) {
		return (this.last != null && this.last.holder().equals(holder)) ? new StoredJob(this.last.endedAs(end, now),
				this.runs, this.paused, this.pausedBy, this.pausedAt, this.resumedAt) : this;
	}

	/**
	 * Return the record of a job that is paused.
	 * @param by the operator that pauses it
	 * @param now the current time, in milliseconds of the store's clock
	 * @return the record
	 */
	public StoredJob pausedBy(String by, long now) {
		return new StoredJob(this.last, this.runs, true, by, now, this.resumedAt);
	}

	/**
	 * Return the record of a job that is resumed.
	 * @param now the current time, in milliseconds of the store's clock
	 * @return the record
	 */
	public StoredJob resumed(long now) {
		return new StoredJob(this.last, this.runs, false, null, null, now);
	}

	/**
	 * Return the record for applications.
	 * @param jobId the id of the job
	 * @param lock the lock that it is stored with
	 * @param heldBy the instance that holds that lock
	 * @param now the current time, in milliseconds of the store's clock
	 * @return the record
	 */
	public JobStatus toStatus(String jobId, JobDecision.LockState lock, @Nullable String heldBy, long now) {
		List<JobRun> latestFirst = new ArrayList<>();
		if (this.last != null) {
			latestFirst.add(this.last.toRun(jobId, lock.outcomeOf(this.last)));
		}
		for (int i = this.runs.size() - 1; i >= 0; i--) {
			latestFirst.add(this.runs.get(i).toRun(jobId, this.runs.get(i).outcome()));
		}
		return new JobStatus(jobId, List.copyOf(latestFirst), this.paused, this.pausedBy, instant(this.pausedAt),
				instant(this.resumedAt), heldBy, Instant.ofEpochMilli(now));
	}

	private static @Nullable Instant instant(@Nullable Long millis) {
		return (millis != null) ? Instant.ofEpochMilli(millis) : null;
	}

}
