package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Supplier;

import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobNews;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.Answer.Asked;
import dev.dblock.job.schedule.JobMethod.Declaration;
import dev.dblock.job.trigger.PlannedTimes;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;

/**
 * Reports the planned times of a job that no instance has run, and why. The record
 * settles each planned time once: a run, or a missed planned time, also settles those
 * since the one before it, which can no longer be run. The instance that got that entry
 * into the record reports them, and no other one does.
 */
final class PlannedTimeAccount {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private final JobPlans plans;

	private final Supplier<@Nullable String> outage;

	private final Supplier<Instant> started;

	private final Begun begun;

	/** The planned times that this instance has passed over for an earlier one. */
	private volatile @Nullable PassedOver passedOver;

	/** When this instance began to work on the shards of a planned time. */
	private volatile @Nullable Instant worksSince;

	/** The latest planned time at which the method was called without its lock. */
	private volatile @Nullable Instant unlocked;

	/**
	 * Create the account.
	 * @param plans all schedules of the job
	 * @param outage why the last request to the server failed; {@code null} if it did not
	 * @param started when this instance was started, by the server's clock
	 * @param begun returns the planned times of a shard that have begun
	 */
	PlannedTimeAccount(JobPlans plans, Supplier<@Nullable String> outage, Supplier<Instant> started, Begun begun) {
		this.begun = begun;
		this.plans = plans;
		this.outage = outage;
		this.started = started;
	}

	/**
	 * Record that the method was called without its lock, whose condition is false.
	 */
	void unlocked(@Nullable Schedule schedule) {
		if (schedule instanceof Schedule.Planned planned) {
			this.unlocked = planned.at();
		}
	}

	/**
	 * Record that this instance was working on an earlier planned time.
	 */
	void passedOver(Instant planned) {
		PassedOver earlier = this.passedOver;
		Instant since = this.worksSince;
		Instant first = (earlier != null) ? earlier.first() : planned;
		// Of several times that pass while no thread is free, only the latest is fired
		this.passedOver = new PassedOver((since != null && since.isBefore(first)) ? since : first, planned);
	}

	/**
	 * Record that this instance begins to work on a planned time.
	 */
	void worksSince(Instant now) {
		this.passedOver = null;
		this.worksSince = now;
	}

	/**
	 * Report the planned times that a run has settled, before its work begins. The work
	 * is more important than the report.
	 */
	void granted(Asked asked, JobRun run) {
		try {
			// One that was abandoned can be granted again
			if (run.attempt() == 1 && asked.method().doubtful().begins(run.plannedAt())) {
				reportSettledBy(asked, run);
			}
			this.unlocked = null;
			PassedOver passedOver = this.passedOver;
			if (passedOver != null && !passedOver.last().isAfter(run.plannedAt())) {
				this.passedOver = null;
			}
			reportDoubtful(asked, null);
		}
		catch (RuntimeException ex) {
			FailureLog.warn(logger, ex,
					"The planned times of the job '{}' before its run for {} could not be reported. Fix the cause",
					run.jobId(), run.plannedAt());
		}
	}

	/**
	 * Record that a request has failed, before it is repeated.
	 */
	void failed(Answer answer) {
		Asked asked = answer.asked();
		if (answer.failure() != null && asked != null
				&& answer.request().schedule() instanceof Schedule.Planned planned) {
			asked.method().doubtful().failed(planned.at(), answer.failure());
		}
	}

	/**
	 * Report what earlier requests have settled that seemed to have failed.
	 */
	void refused(Answer answer) {
		Asked asked = answer.asked();
		if (asked == null || answer.refusal() == null) {
			return;
		}
		JobRefusal verdict = answer.verdict();
		boolean elsewhere = verdict != null && verdict.reason() == Reason.OTHER_ID;
		try {
			reportDoubtful(asked,
					(elsewhere && asked.firing().schedule() instanceof Schedule.Planned planned) ? planned.at() : null);
		}
		catch (RuntimeException ex) {
			FailureLog.warn(logger, ex,
					"What the failed requests of the job '{}' have settled could not be reported. Fix the cause",
					asked.method().id());
		}
	}

	/**
	 * Report what grants have settled whose answers were lost. This instance learns of
	 * such a grant only from the record. As long as it is the last entry, it can still be
	 * abandoned, or granted again.
	 * @param elsewhere a planned time that was settled under another id; {@code null} if
	 * none is known
	 */
	private void reportDoubtful(Asked asked, @Nullable Instant elsewhere) {
		DoubtfulTimes doubtful = asked.method().doubtful();
		// Because of entries that are rolled back later, planned times would be reported
		// by no instance, or by two
		JobStatus status = doubtful.isEmpty() ? null : status(asked, true);
		if (status == null || status.runs().isEmpty()) {
			return;
		}
		List<JobRun> runs = status.runs();
		// That of the entry before the oldest one that is left
		Instant earlier = runs.get(runs.size() - 1).after();
		Instant unknown = null;
		Instant last = runs.get(0).plannedAt();
		for (Instant planned : doubtful.before((elsewhere != null && elsewhere.isAfter(last)) ? elsewhere : last)) {
			JobRun granted = runs.stream()
				.filter((run) -> isAttempt(run, planned, asked.declaration().engine().acquirer()))
				.findFirst()
				.orElse(null);
			String failure = doubtful.remove(planned, granted != null);
			if (granted != null && failure != null) {
				reportSettledBy(asked, granted, status, failure);
			}
			else if (granted == null && earlier != null && !planned.isAfter(earlier)) {
				unknown = planned;
			}
		}
		if (unknown != null) {
			logger.warn("Whether the failed requests of the job '{}' until {} were granted is no longer recorded. If"
					+ " so, planned times before them could not be reported", asked.method().id(), unknown);
		}
	}

	/** An instance that was started again can have the name of the one before. */
	private boolean isAttempt(JobRun run, Instant planned, String acquirer) {
		return run.plannedAt().equals(planned) && run.attempt() == 1 && run.instance().equals(acquirer)
				&& !run.startedAt().plusSeconds(1).isBefore(this.started.get());
	}

	private void reportSettledBy(Asked asked, JobRun granted, JobStatus status, String failure) {
		Instant after = granted.after();
		// One that was abandoned stays in the record only if its firing had begun before
		boolean settles = granted.outcome() != JobRun.Outcome.ABANDONED || !granted.equals(status.runs().get(0));
		if (after != null && settles) {
			report(asked.method(), between(after, granted.plannedAt()), new Settled(granted, status, failure));
		}
	}

	private void reportSettledBy(Asked asked, JobRun run) {
		Instant after = run.after();
		PlannedTimes unrun = (after != null) ? between(after, run.plannedAt()) : sinceStart(run.plannedAt());
		if (unrun.times().isEmpty()) {
			return;
		}
		JobStatus status = status(asked, false);
		if (after != null || (status != null && status.runs().size() == 1)) {
			report(asked.method(), unrun, new Settled(run, status, this.outage.get()));
		}
	}

	/**
	 * Return what the schedules have planned since the start of this instance, for the
	 * first run of the job.
	 */
	private PlannedTimes sinceStart(Instant planned) {
		Collection<JobPlan> plans = this.plans.different();
		return plans.stream()
			.map(JobPlan::since)
			.filter((since) -> since != null && since.isBefore(planned))
			.min(Comparator.naturalOrder())
			.map((since) -> since.minusMillis(1))
			.map((before) -> begun(plans, between(plans, before, planned), before, planned))
			.orElse(PlannedTimes.NONE);
	}

	/**
	 * Report a planned time that this instance has recorded as missed, and those that
	 * this has settled.
	 * @param status the record since then
	 * @param outage why the request before failed; {@code null} if it did not
	 */
	void missed(Answer answer, JobStatus status, @Nullable String outage) {
		JobMethod method = Objects.requireNonNull(answer.asked()).method();
		Instant planned = ((Schedule.Planned) Objects.requireNonNull(answer.request().schedule())).at();
		List<JobRun> runs = status.runs();
		JobRun missed = runs.stream()
			.filter((run) -> run.outcome() == JobRun.Outcome.MISSED && run.plannedAt().equals(planned))
			.findFirst()
			.orElse(null);
		if (missed == null) {
			return;
		}
		runs.stream()
			.skip(runs.indexOf(missed) + 1)
			.findFirst()
			.filter((before) -> before.outcome() == JobRun.Outcome.CRASHED)
			.ifPresent((before) -> reportCrash(method, before));
		PlannedTimes unrun = (missed.after() != null) ? between(missed.after(), planned)
				: (runs.size() == 1) ? sinceStart(planned) : PlannedTimes.NONE;
		report(method, unrun, new Settled(missed, status, outage));
	}

	private static void reportCrash(JobMethod method, JobRun run) {
		JobNews.Crashed crashed = new JobNews.Crashed(run, null);
		crashed.log(logger);
		method.report(crashed);
	}

	private @Nullable JobStatus status(Asked asked, boolean lasting) {
		String lock = asked.method().lock();
		if (lock == null) {
			return null;
		}
		try {
			Duration limit = JobRequest.patience(0);
			Declaration declaration = asked.declaration();
			return (lasting ? declaration.lastingStatus(lock, limit) : declaration.status(lock, limit)).orElse(null);
		}
		catch (DataAccessException ex) {
			logger.debug("The record of the job '{}' could not be read", asked.method().id(), ex);
			return null;
		}
	}

	/**
	 * Return what the schedules plan between two planned times; nothing if they have
	 * changed since then.
	 */
	private PlannedTimes between(Instant after, Instant planned) {
		Collection<JobPlan> plans = this.plans.different();
		PlannedTimes between = between(plans, after, planned);
		boolean changed = plans.stream().noneMatch((plan) -> plan.isPlanned(planned))
				|| (plans.stream().allMatch(JobPlan::isCron) && plans.stream().noneMatch((plan) -> plan.plans(after)));
		return changed ? PlannedTimes.NONE : begun(plans, between, after, planned);
	}

	/**
	 * Select the planned times of a shard. Without a cron expression, only the record has
	 * those from before this instance started.
	 */
	private PlannedTimes begun(Collection<JobPlan> plans, PlannedTimes between, Instant after, Instant planned) {
		boolean none = between.times().isEmpty() && plans.stream().allMatch(JobPlan::isCron);
		return none ? between : this.begun.select(between, after, planned);
	}

	private static PlannedTimes between(Collection<JobPlan> plans, Instant after, Instant planned) {
		TreeSet<Instant> times = new TreeSet<>();
		boolean more = false;
		for (JobPlan plan : plans) {
			PlannedTimes ofPlan = plan.between(after, planned);
			times.addAll(ofPlan.times());
			more |= ofPlan.more();
		}
		List<Instant> latest = new ArrayList<>(times);
		int dropped = Math.max(0, latest.size() - PlannedTimes.MOST);
		return new PlannedTimes(latest.subList(dropped, latest.size()), more || dropped > 0);
	}

	/**
	 * Whether two schedules are known to differ.
	 */
	static boolean differ(@Nullable String one, @Nullable String other) {
		return one != null && other != null && !one.equals(other);
	}

	private void report(JobMethod method, PlannedTimes unrun, Settled settled) {
		JobRun by = settled.by();
		JobRun before = settled.before();
		PlannedTimes known = unrun;
		if (before != null && differ(before.plan(), by.plan())) {
			logger.info(
					"The schedule of the job '{}' has changed from '{}' to '{}' since its planned time {}. Planned"
							+ " times since then are not reported as missed",
					method.id(), before.plan(), by.plan(), before.plannedAt());
			known = PlannedTimes.NONE;
		}
		List<Shards.Period> work = (before != null && Shards.isBegun(before) && !method.isShard())
				? Shards.work(method.declaration(), before) : List.of();
		List<Instant> times = new ArrayList<>(known.times());
		if (settled.isMissed()) {
			times.add(by.plannedAt());
		}
		for (int from = 0, to = 0; from < times.size(); from = to) {
			Cause cause = cause(times.get(from), settled, work);
			while (to < times.size() && cause.equals(cause(times.get(to), settled, work))) {
				to++;
			}
			report(method, times.subList(from, to), known.more() && from == 0, cause);
		}
	}

	/**
	 * Return why a planned time was not run.
	 * @param work when instances were at work on the shards of the planned time before
	 */
	private Cause cause(Instant planned, Settled settled, List<Shards.Period> work) {
		Instant unlocked = this.unlocked;
		if (unlocked != null && !planned.isAfter(unlocked)) {
			return new Cause(true, "the condition of its lock was false until " + unlocked);
		}
		PassedOver passedOver = this.passedOver;
		if ((passedOver != null && settled.outage() == null && passedOver.contains(planned))
				|| work.stream().anyMatch((period) -> period.contains(planned))) {
			return new Cause(true, "the shards of an earlier planned time were in progress");
		}
		JobStatus status = settled.status();
		Instant resumedAt = (status != null) ? status.resumedAt() : null;
		Instant pausedAt = (status != null) ? status.pausedAt() : null;
		if (resumedAt != null && planned.isBefore(resumedAt) && (pausedAt == null || !planned.isBefore(pausedAt))) {
			return new Cause(true, "the job was paused until " + resumedAt);
		}
		JobRun before = settled.before();
		Instant after = settled.by().after();
		if (before == null && status != null && after != null && planned.isBefore(settled.by().plannedAt())) {
			return new Cause(true,
					"until %s, another version of the application had another id for it".formatted(after));
		}
		JobRun ran = (before != null && before.outcome() != JobRun.Outcome.MISSED) ? before : null;
		if (ran != null && ran.endedAt() != null && planned.isBefore(ran.endedAt())) {
			return new Cause(true, "the run for %s was in progress on %s until %s".formatted(ran.plannedAt(),
					ran.instance(), ran.endedAt()));
		}
		if (ran != null && ran.endedAt() == null && ran.outcome() != null) {
			return new Cause(false, "the run for %s on %s had not ended properly (%s)".formatted(ran.plannedAt(),
					ran.instance(), ran.outcome()));
		}
		if (settled.outage() != null) {
			return new Cause(false, "the requests of this instance to the MongoDB server failed: " + settled.outage());
		}
		if (status != null && settled.isMissed() && status.heldBy() != null) {
			return new Cause(false, "its lock is held by " + status.heldBy());
		}
		return new Cause(false, "no instance was up, had a free thread for it and was granted its lock in time");
	}

	private static void report(JobMethod method, List<Instant> times, boolean more, Cause cause) {
		String earlier = more ? " and earlier ones" : "";
		String which = (times.size() == 1) ? "its planned time " + times.get(0) + earlier
				: "%,d planned times%s, from %s to %s".formatted(times.size(), earlier, times.get(0),
						times.get(times.size() - 1));
		if (cause.skipped()) {
			logger.info("The job '{}' skipped {}: {}", method.id(), which, cause.text());
			return;
		}
		logger.error("The job '{}' missed {}: {}. What was missed does not start any more", method.id(), which,
				cause.text());
		times.forEach((planned) -> method.report(new JobNews.Missed(method.id(), planned)));
	}

	/**
	 * What this instance has settled.
	 *
	 * @param by the run or the missed planned time that settled it
	 * @param status the record since then; {@code null} if it could not be read
	 * @param outage why the request before failed; {@code null} if it did not
	 */
	private record Settled(JobRun by, @Nullable JobStatus status, @Nullable String outage) {

		boolean isMissed() {
			return this.by.outcome() == JobRun.Outcome.MISSED;
		}

		/**
		 * Return the run, or the missed planned time, that was settled before;
		 * {@code null} if it is not known.
		 */
		@Nullable JobRun before() {
			return (this.status == null) ? null
					: this.status.runs()
						.stream()
						.filter((run) -> run.plannedAt().equals(this.by.after()))
						.findFirst()
						.orElse(null);
		}

	}

	/**
	 * Planned times that an instance has passed over.
	 */
	private record PassedOver(Instant first, Instant last) {

		boolean contains(Instant planned) {
			return !planned.isBefore(this.first) && !planned.isAfter(this.last);
		}

	}

	/**
	 * Selects the planned times that a job accounts for.
	 */
	interface Begun {

		/**
		 * Return those of a shard, which has a record of what has begun.
		 * @param planned what the schedules plan between two planned times
		 */
		PlannedTimes select(PlannedTimes planned, Instant after, Instant before);

	}

	/**
	 * Why a planned time was not run.
	 *
	 * @param skipped whether that is as it should be
	 */
	private record Cause(boolean skipped, String text) {
	}

}
