package dev.dblock.job.schedule;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.JobMethod.Declaration;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

/**
 * Checks for unfinished work of a job from before the start, until there is an answer:
 * repeats the last run if it crashed, and runs the latest planned time that no instance
 * ran, if the job requires it. Otherwise that planned time is recorded as missed as soon
 * as it can no longer start. A periodic schedule is due at its start in any case.
 */
final class LookBack {

	private final JobMethod method;

	private final Declaration declaration;

	/** All schedules of the job that plan instants. */
	private final List<JobTask> tasks;

	/** The task that makes the request. */
	private final JobTask first;

	private int earlier;

	private int timeouts;

	private LookBack(JobMethod method, List<JobTask> tasks) {
		this.method = method;
		this.declaration = method.declaration();
		this.tasks = tasks;
		this.first = tasks.get(0);
	}

	/**
	 * Begin the check. If a task can belong to several methods, only its first firing
	 * shows which record is its own.
	 * @param tasks the tasks of the job
	 */
	static void begin(JobMethod method, List<JobTask> tasks) {
		List<JobTask> planning = tasks.stream()
			.filter((task) -> task.methods().size() == 1 && task.plan().plansInstants())
			.toList();
		if (!planning.isEmpty()) {
			new LookBack(method, planning).schedule(planning.get(0).now());
		}
	}

	private void schedule(Instant at) {
		this.first.timer().start(at, this::run);
	}

	private void run() {
		Optional<JobStatus> status;
		try {
			long sent = this.first.nanoTime();
			status = this.declaration.status(JobRequest.patience(this.timeouts));
			status.ifPresent((found) -> this.first.learn(found.at(), sent));
			this.first.reports().answered(null, this.declaration);
			this.tasks.forEach(JobTask::planAgain);
		}
		catch (DataAccessException ex) {
			if (this.first.latest() == null) {
				this.first.reports().answered(ex, this.declaration);
				this.timeouts = (ex instanceof QueryTimeoutException) ? this.timeouts + 1 : 0;
				schedule(this.first.now().plus(NextFiring.pause(this.earlier++)));
			}
			return;
		}
		// A firing since then makes the same request, and for a later planned time
		if (this.first.isCancelled() || this.first.latest() != null) {
			return;
		}
		status.filter((found) -> !found.runs().isEmpty()).ifPresent(this::finish);
	}

	private void finish(JobStatus status) {
		JobRun last = status.runs().get(0);
		if (status.paused()) {
			// What has begun continues
			this.first.resume(last);
			return;
		}
		Unrun unrun = (isAsked() && isOfThisSchedule(last)) ? latestUnrun(last, status.resumedAt()) : null;
		boolean inTime = unrun != null && this.first.now().isBefore(tooLate(unrun));
		if (unrun != null && inTime && this.declaration.runMissed()) {
			// The request repeats a crashed run first if the job requires that
			unrun.task().catchUp(last, new Schedule.Planned(unrun.planned()));
			return;
		}
		if (this.declaration.rerun() && isRepeatable(last)
				&& this.tasks.stream().anyMatch((task) -> task.plan().isPlanned(last.plannedAt()))) {
			this.first.call(JobRequest.look(last, this.first.latest()));
		}
		else {
			this.first.resume(last);
		}
		if (unrun != null) {
			// The server's clock is known to a few milliseconds only
			unrun.task().missedAt(tooLate(unrun).plus(NextFiring.SOON), this.method, unrun.planned());
		}
	}

	/**
	 * Whether the triggers are asked what they plan. Those of the application may count
	 * their calls, so that they are asked only if the job requires it.
	 */
	private boolean isAsked() {
		return this.declaration.runMissed() || this.tasks.stream().allMatch((task) -> task.plan().isCron());
	}

	/**
	 * Whether the job had the same schedule then.
	 */
	private boolean isOfThisSchedule(JobRun last) {
		return this.tasks.stream().anyMatch((task) -> task.plan().plans(last.plannedAt()))
				&& !PlannedTimeAccount.differ(last.plan(), this.first.plans().text());
	}

	private Instant tooLate(Unrun unrun) {
		return unrun.planned().plus(this.declaration.startWithin()).plusMillis(1);
	}

	private static boolean isRepeatable(JobRun last) {
		return last.outcome() == null || switch (last.outcome()) {
			case CRASHED, LOST, ABANDONED -> true;
			case SUCCEEDED, FAILED, MISSED -> false;
		};
	}

	/**
	 * Return the latest planned time after the last run, and after the end of a pause.
	 */
	private @Nullable Unrun latestUnrun(JobRun last, @Nullable Instant resumedAt) {
		boolean neverBegan = last.outcome() == JobRun.Outcome.ABANDONED;
		Instant than = neverBegan ? last.plannedAt().minusMillis(1) : last.plannedAt();
		if (resumedAt != null && resumedAt.isAfter(than)) {
			than = resumedAt.minusMillis(1);
		}
		Unrun latest = null;
		for (JobTask task : this.tasks) {
			Instant planned = task.plan().latest(than, this.first.now());
			if (planned != null && (latest == null || planned.isAfter(latest.planned()))) {
				latest = new Unrun(task, planned);
			}
		}
		return latest;
	}

	/**
	 * A planned time that no instance ran.
	 */
	private record Unrun(JobTask task, Instant planned) {
	}

}
