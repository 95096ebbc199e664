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
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.Answer.Asked;
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

	/** How many planned times are computed; any before them are only counted as more. */
	static final int MOST = 1000;

	/** How long that may take in a thread of the scheduler. */
	static final Duration LONGEST = Duration.ofMillis(50);

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private final Supplier<Collection<JobPlan>> plans;

	private final Supplier<@Nullable String> outage;

	/** The latest planned time at which the method was called without its lock. */
	private volatile @Nullable Instant unlocked;

	/**
	 * Create the account.
	 * @param plans all schedules of the job; none if they are not known
	 * @param outage why the last request to the server failed; {@code null} if it did not
	 */
	PlannedTimeAccount(Supplier<Collection<JobPlan>> plans, Supplier<@Nullable String> outage) {
		this.plans = plans;
		this.outage = outage;
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
	 * Report the planned times that a run has settled, before its work begins.
	 */
	void granted(Asked asked, JobRun run) {
		if (run.attempt() == 1) {
			Instant after = run.after();
			PlannedTimes unrun = (after != null) ? between(after, run.plannedAt()) : sinceStart(run.plannedAt());
			if (!unrun.times().isEmpty()) {
				JobStatus status = status(asked);
				if (after != null || (status != null && status.runs().size() == 1)) {
					report(asked.method(), unrun, status, run, this.outage.get());
				}
			}
		}
		this.unlocked = null;
	}

	/**
	 * Return what the schedules have planned since the start of this instance, for the
	 * first run of the job.
	 */
	private PlannedTimes sinceStart(Instant planned) {
		return this.plans.get()
			.stream()
			.map(JobPlan::first)
			.filter((first) -> first != null && first.isBefore(planned))
			.min(Comparator.naturalOrder())
			.map((first) -> from(first, planned))
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
		for (int i = 0; i < runs.size(); i++) {
			JobRun missed = runs.get(i);
			if (missed.outcome() != JobRun.Outcome.MISSED || !missed.plannedAt().equals(planned)) {
				continue;
			}
			JobRun before = (i + 1 < runs.size()) ? runs.get(i + 1) : null;
			if (before != null && before.outcome() == JobRun.Outcome.CRASHED) {
				JobNews.Crashed crashed = new JobNews.Crashed(before, null);
				crashed.log(logger);
				method.report(crashed);
			}
			PlannedTimes unrun = (missed.after() != null) ? between(missed.after(), planned) : PlannedTimes.NONE;
			if (before != null && differ(before.plan(), missed.plan())) {
				report(method, unrun, status, missed, outage);
				unrun = PlannedTimes.NONE;
			}
			List<Instant> all = new ArrayList<>(unrun.times());
			all.add(planned);
			reportEach(method, new PlannedTimes(all, unrun.more()), before, status, missed, outage);
		}
	}

	private @Nullable JobStatus status(Asked asked) {
		String lock = asked.method().lock();
		if (lock == null) {
			return null;
		}
		try {
			return asked.declaration().status(lock, JobRequest.patience(0)).orElse(null);
		}
		catch (DataAccessException ex) {
			logger.debug("The record of the job '{}' could not be read", asked.method().id(), ex);
			return null;
		}
	}

	/**
	 * Return what the schedules plan between two planned times; nothing if they have
	 * changed since the second one was planned.
	 */
	private PlannedTimes between(Instant after, Instant planned) {
		Collection<JobPlan> plans = this.plans.get();
		if (plans.stream().noneMatch((plan) -> plan.isPlanned(planned)) || (plans.stream().allMatch(JobPlan::isCron)
				&& plans.stream().noneMatch((plan) -> plan.plans(after)))) {
			return PlannedTimes.NONE;
		}
		return from(after.plusMillis(1), planned);
	}

	/**
	 * Return what the schedules plan from an instant on, before a planned time.
	 */
	private PlannedTimes from(Instant first, Instant planned) {
		Instant after = first.minusMillis(1);
		TreeSet<Instant> times = new TreeSet<>();
		boolean more = false;
		for (JobPlan plan : this.plans.get()) {
			PlannedTimes ofPlan = plan.between(after, planned);
			times.addAll(ofPlan.times());
			more |= ofPlan.more();
		}
		List<Instant> latest = new ArrayList<>(times);
		int dropped = Math.max(0, latest.size() - MOST);
		return new PlannedTimes(latest.subList(dropped, latest.size()), more || dropped > 0);
	}

	/**
	 * Whether two schedules are known to differ.
	 */
	static boolean differ(@Nullable String one, @Nullable String other) {
		return one != null && other != null && !one.equals(other);
	}

	private void report(JobMethod method, PlannedTimes unrun, @Nullable JobStatus status, JobRun settling,
			@Nullable String outage) {
		JobRun before = (status != null) ? before(status, settling) : null;
		if (before != null && differ(before.plan(), settling.plan())) {
			logger.info(
					"The schedule of the job '{}' has changed from '{}' to '{}' since its planned time {}. Planned"
							+ " times since then are not reported as missed",
					method.id(), before.plan(), settling.plan(), before.plannedAt());
			return;
		}
		reportEach(method, unrun, before, status, settling, outage);
	}

	private void reportEach(JobMethod method, PlannedTimes unrun, @Nullable JobRun before, @Nullable JobStatus status,
			JobRun settling, @Nullable String outage) {
		List<Instant> times = unrun.times();
		for (int from = 0, to = 0; from < times.size(); from = to) {
			Cause cause = cause(times.get(from), before, status, settling, outage);
			while (to < times.size() && cause.equals(cause(times.get(to), before, status, settling, outage))) {
				to++;
			}
			report(method, times.subList(from, to), unrun.more() && from == 0, cause);
		}
	}

	private static @Nullable JobRun before(JobStatus status, JobRun settling) {
		return status.runs()
			.stream()
			.filter((run) -> run.plannedAt().equals(settling.after()))
			.findFirst()
			.orElse(null);
	}

	private Cause cause(Instant planned, @Nullable JobRun before, @Nullable JobStatus status, JobRun settling,
			@Nullable String outage) {
		Instant unlocked = this.unlocked;
		if (unlocked != null && !planned.isAfter(unlocked)) {
			return new Cause(true, "the condition of its lock was false until " + unlocked);
		}
		Instant resumedAt = (status != null) ? status.resumedAt() : null;
		Instant pausedAt = (status != null) ? status.pausedAt() : null;
		if (resumedAt != null && planned.isBefore(resumedAt) && (pausedAt == null || !planned.isBefore(pausedAt))) {
			return new Cause(true, "the job was paused until " + resumedAt);
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
		if (outage != null) {
			return new Cause(false, "the requests of this instance to the MongoDB server failed: " + outage);
		}
		if (status != null && settling.outcome() == JobRun.Outcome.MISSED && status.heldBy() != null) {
			return new Cause(false, "its lock is held by " + status.heldBy());
		}
		return new Cause(false, "no instance was up, had a free thread for it and was granted its lock in time");
	}

	private static void report(JobMethod method, List<Instant> times, boolean more, Cause cause) {
		String which = (times.size() == 1 && !more) ? "its planned time " + times.get(0)
				: "%,d planned times%s, from %s to %s".formatted(times.size(), more ? " and earlier ones" : "",
						times.get(0), times.get(times.size() - 1));
		if (cause.skipped()) {
			logger.info("The job '{}' skipped {}: {}", method.id(), which, cause.text());
			return;
		}
		logger.error("The job '{}' missed {}: {}. What was missed does not start any more", method.id(), which,
				cause.text());
		times.forEach((planned) -> method.report(new JobNews.Missed(method.id(), planned)));
	}

	/**
	 * Why a planned time was not run.
	 *
	 * @param skipped whether that is as it should be
	 */
	private record Cause(boolean skipped, String text) {
	}

	/**
	 * What a schedule plans in a time.
	 *
	 * @param times the planned times, in order
	 * @param more whether there are earlier ones, which were not computed
	 */
	record PlannedTimes(List<Instant> times, boolean more) {

		static final PlannedTimes NONE = new PlannedTimes(List.of(), false);

	}

}
