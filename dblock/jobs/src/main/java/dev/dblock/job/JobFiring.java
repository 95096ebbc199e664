package dev.dblock.job;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.function.Consumer;

import dev.dblock.claim.Claim;
import dev.dblock.job.StoredJob.RunEnd;
import org.jspecify.annotations.Nullable;

/**
 * A firing: the call of one instance for a planned time of a job.
 *
 * @param jobId the id of the job; {@code null} for the full name of the lock
 * @param schedule the schedule that determines the planned time
 * @param id a random id. Requests with the same id, such as retries, belong to the same
 * run, until it succeeded
 * @param rerun whether a crashed run is repeated; the grant is then for the planned time
 * of that run, and the caller requests its own with {@link #withNewId()}
 * @param answerWithin how long the server may take to answer, if that is shorter than
 * {@code dblock.mongodb.timeout}; such a firing does not wait for the lock, whatever its
 * options and {@code dblock.locks} say. {@code null} for that timeout and the usual wait
 * @param startWithin how long after its planned time it can be granted, and how long
 * after the end of its lease a crashed run can be repeated, by the clock of the store;
 * {@code null} for any time
 * @param plan the schedules of the job as text, which the record keeps with the run;
 * {@code null} if unknown
 * @param method the method of the job: a planned time that was settled under another id
 * of it is not granted; {@code null} if other ids do not matter, as for a schedule whose
 * planned times follow from its runs
 * @param shards how many shards the planned time has, unless the record has their number
 * already; 0 for none
 * @param whenInDoubt notified of requests that failed but may have been granted;
 * {@code null} for none
 */
public record JobFiring(@Nullable String jobId, Schedule schedule, String id, boolean rerun,
		@Nullable Duration answerWithin, @Nullable Duration startWithin, @Nullable String plan, @Nullable String method,
		int shards, @Nullable Consumer<Throwable> whenInDoubt) implements Claim {

	/**
	 * Check the ids and the time limit.
	 * @throws IllegalArgumentException if an id is blank, or the limit is not positive
	 */
	public JobFiring {
		if (answerWithin != null && (answerWithin.isNegative() || answerWithin.isZero())) {
			throw new IllegalArgumentException("The time limit must be positive, but is " + answerWithin);
		}
		if (id.isBlank() || (jobId != null && jobId.isBlank())) {
			throw new IllegalArgumentException("The id of a job and of its firing must not be blank");
		}
		method = (schedule instanceof Schedule.Planned) ? method : null;
	}

	/**
	 * Create a firing whose request has the time limit of all requests.
	 * @param jobId the id of the job; {@code null} for the full name of the lock
	 * @param schedule the schedule that determines the planned time
	 * @param id a random id
	 * @param rerun whether a crashed run is repeated
	 * @throws IllegalArgumentException if an id is blank
	 */
	public JobFiring(@Nullable String jobId, Schedule schedule, String id, boolean rerun) {
		this(jobId, schedule, id, rerun, null, null, null, null, 0, null);
	}

	/**
	 * Create a firing for a planned time of the job whose id is the full name of the
	 * lock. Among all instances, at most one firing is granted for each planned time, and
	 * none is granted for a planned time that is not later than one that was run. Keep
	 * the firing to repeat the request for the same run, and create another one to
	 * request another run.
	 * @param plannedAt the planned time, by the clock of the server
	 * @return the firing, with a new random id
	 * @throws IllegalArgumentException if it is before the year 1 or after the year 9999
	 * @see dev.dblock.LockOptions#claim
	 */
	public static JobFiring at(Instant plannedAt) {
		return of(null, new Schedule.Planned(plannedAt), false);
	}

	/**
	 * Create a firing with a new random id.
	 * @param jobId the id of the job; {@code null} for the full name of the lock
	 * @param schedule the schedule that determines the planned time
	 * @param rerun whether a crashed run is repeated
	 * @return the firing
	 */
	public static JobFiring of(@Nullable String jobId, Schedule schedule, boolean rerun) {
		return new JobFiring(jobId, schedule, UUID.randomUUID().toString(), rerun);
	}

	/**
	 * Return another firing for the same planned time.
	 * @return a copy with a new random id
	 */
	public JobFiring withNewId() {
		return new JobFiring(this.jobId, this.schedule, UUID.randomUUID().toString(), this.rerun, null,
				this.startWithin, this.plan, this.method, this.shards, this.whenInDoubt);
	}

	/**
	 * Return the same firing with a time limit.
	 * @param limit how long the server may take to answer
	 * @return a copy with it
	 * @throws IllegalArgumentException if it is not positive
	 */
	public JobFiring answerWithin(Duration limit) {
		return new JobFiring(this.jobId, this.schedule, this.id, this.rerun, limit, this.startWithin, this.plan,
				this.method, this.shards, this.whenInDoubt);
	}

	/**
	 * Return the same firing, which is not granted later than a time after its planned
	 * time.
	 * @param limit how long after its planned time it can be granted
	 * @param plan the schedules of the job as text; {@code null} if unknown
	 * @return a copy with them
	 */
	public JobFiring startWithin(Duration limit, @Nullable String plan) {
		return new JobFiring(this.jobId, this.schedule, this.id, this.rerun, this.answerWithin, limit, plan,
				this.method, this.shards, this.whenInDoubt);
	}

	/**
	 * Return the same firing, which is not granted a planned time that was settled under
	 * another id of its method.
	 * @param method the method; {@code null} if other ids do not matter
	 * @return a copy with it
	 */
	public JobFiring method(@Nullable String method) {
		return new JobFiring(this.jobId, this.schedule, this.id, this.rerun, this.answerWithin, this.startWithin,
				this.plan, method, this.shards, this.whenInDoubt);
	}

	/**
	 * Return the same firing, whose planned time has shards unless the record has their
	 * number already.
	 * @param count how many shards; 0 for none
	 * @return a copy with it
	 */
	public JobFiring shards(int count) {
		return new JobFiring(this.jobId, this.schedule, this.id, this.rerun, this.answerWithin, this.startWithin,
				this.plan, this.method, count, this.whenInDoubt);
	}

	/**
	 * Return the same firing, which reports requests that failed but may have been
	 * granted.
	 * @param listener notified of each failure
	 * @return a copy with it
	 */
	public JobFiring whenInDoubt(Consumer<Throwable> listener) {
		return new JobFiring(this.jobId, this.schedule, this.id, this.rerun, this.answerWithin, this.startWithin,
				this.plan, this.method, this.shards, listener);
	}

	@Override
	public void inDoubt(Throwable failure) {
		if (this.whenInDoubt != null) {
			this.whenInDoubt.accept(failure);
		}
	}

	/**
	 * Return the time of the store's clock after which a planned time is not granted.
	 * @return milliseconds; {@code null} if there is no such time
	 */
	public @Nullable Long startUntil() {
		return (this.startWithin != null && !isOfShard() && this.schedule instanceof Schedule.Planned planned)
				? Long.valueOf(startUntil(planned.at().toEpochMilli())) : null;
	}

	/**
	 * Whether this is for a shard. Its planned time has begun in time.
	 */
	private boolean isOfShard() {
		return this.shards > 0 && this.jobId != null && ShardNames.numberOf(this.jobId) > 0;
	}

	/**
	 * Return how long after a moment a run can start.
	 * @param from the moment, in milliseconds of the store's clock
	 * @return the end of that time, {@link Long#MAX_VALUE} if it does not end
	 */
	public long startUntil(long from) {
		if (this.startWithin == null || this.startWithin.compareTo(Schedule.LONGEST_PERIOD) > 0) {
			return Long.MAX_VALUE;
		}
		return from + this.startWithin.toMillis();
	}

	@Override
	public Key key(String lock) {
		return StoredJob.key(idAt(lock), this.method);
	}

	private String idAt(String lock) {
		return (this.jobId != null) ? this.jobId : lock;
	}

	@Override
	public String textOf(Throwable failure) {
		return RunEnd.textOf(failure);
	}

	@Override
	public RunEnd end(String lock, How how, @Nullable String error) {
		return switch (how) {
			case COMPLETED ->
				new RunEnd(idAt(lock), (error != null) ? JobRun.Outcome.FAILED : JobRun.Outcome.SUCCEEDED, error);
			case INTERRUPTED, LOST -> new RunEnd(idAt(lock), JobRun.Outcome.LOST, error);
			case ABANDONED -> new RunEnd(idAt(lock), JobRun.Outcome.ABANDONED, error, open());
			// Without an error, the next grant would report the crash once more
			case ABANDONED_AFTER_NEWS -> new RunEnd(idAt(lock), JobRun.Outcome.ABANDONED, RunEnd.NEVER_BEGAN, open());
		};
	}

	private RunEnd.@Nullable Open open() {
		return (this.method != null && this.schedule instanceof Schedule.Planned planned)
				? new RunEnd.Open(this.method, planned.at()) : null;
	}

	/**
	 * Determines a planned time.
	 */
	public sealed interface Schedule {

		/**
		 * A hundred years: the longest period and the longest delay. Longer ones, by
		 * which a job is to run only once, would exceed the range of dates.
		 */
		Duration LONGEST_PERIOD = Duration.ofDays(36_500);

		private static Duration bounded(Duration period) {
			return (period.compareTo(LONGEST_PERIOD) > 0) ? LONGEST_PERIOD : period;
		}

		/**
		 * A planned time that is known, because every instance plans the same instants.
		 *
		 * @param at the planned time, by the clock of the server, from the year 1 to the
		 * year 9999 (UTC); truncated to milliseconds
		 */
		record Planned(Instant at) implements Schedule {

			private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");

			private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999999Z");

			/**
			 * Check the planned time.
			 * @throws IllegalArgumentException if it is before the year 1 or after the
			 * year 9999
			 */
			public Planned {
				if (at.isBefore(FIRST) || at.isAfter(LAST)) {
					throw new IllegalArgumentException(
							"A planned time must be between the years 1 and 9999, but is " + at);
				}
				at = at.truncatedTo(ChronoUnit.MILLIS);
			}

		}

		/**
		 * The latest time that is due at a fixed period after the last planned time.
		 *
		 * @param period the period, at least a millisecond; a longer one than
		 * {@link #LONGEST_PERIOD} is that
		 */
		record FixedRate(Duration period) implements Schedule {

			/**
			 * Check the period.
			 * @throws IllegalArgumentException if it is shorter than a millisecond
			 */
			public FixedRate {
				if (period.compareTo(Duration.ofMillis(1)) < 0) {
					throw new IllegalArgumentException("The period must be at least a millisecond, but is " + period);
				}
				period = bounded(period);
			}

		}

		/**
		 * The end of the last run plus a delay; due immediately if that end is unknown
		 * because the run crashed.
		 *
		 * @param delay the delay, not negative; a longer one than {@link #LONGEST_PERIOD}
		 * is that
		 */
		record FixedDelay(Duration delay) implements Schedule {

			/**
			 * Check the delay.
			 * @throws IllegalArgumentException if it is negative
			 */
			public FixedDelay {
				if (delay.isNegative()) {
					throw new IllegalArgumentException("The delay must not be negative, but is " + delay);
				}
				delay = bounded(delay);
			}

		}

	}

}
