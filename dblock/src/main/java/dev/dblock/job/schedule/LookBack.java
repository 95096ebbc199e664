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
 * Checks once for unfinished work of a job from before the start: repeats the last run if
 * it crashed, and runs the latest planned time that no instance ran, if the job requires
 * it. A periodic schedule is due at its start in any case.
 */
final class LookBack {

	private final Declaration declaration;

	/** All schedules of the job that plan instants. */
	private final List<JobTask> tasks;

	/** The task that makes the request. */
	private final JobTask first;

	private int earlier;

	private int timeouts;

	private LookBack(Declaration declaration, List<JobTask> tasks) {
		this.declaration = declaration;
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
		Declaration declaration = method.declaration();
		if (!planning.isEmpty() && (declaration.rerun() || declaration.runMissed())) {
			new LookBack(declaration, planning).schedule(planning.get(0).now());
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
			this.first.reports().answered(null, null, this.declaration);
		}
		catch (DataAccessException ex) {
			if (this.first.latest() == null) {
				this.first.reports().answered(ex, null, this.declaration);
				this.timeouts = (ex instanceof QueryTimeoutException) ? this.timeouts + 1 : 0;
				schedule(this.first.now().plus(NextFiring.pause(this.earlier++)));
			}
			return;
		}
		// A firing since then makes the same request, and for a later planned time
		if (this.first.isCancelled() || this.first.latest() != null) {
			return;
		}
		status.filter((found) -> !found.paused() && !found.runs().isEmpty()).ifPresent(this::finish);
	}

	private void finish(JobStatus status) {
		JobRun last = status.runs().get(0);
		Instant earliest = this.first.now().minus(this.declaration.startWithin());
		if (status.resumedAt() != null && status.resumedAt().isAfter(earliest)) {
			earliest = status.resumedAt();
		}
		Unrun unrun = this.declaration.runMissed() ? latestUnrun(last, earliest) : null;
		if (unrun != null) {
			// The request repeats a crashed run first if the job requires that
			unrun.task().call(JobRequest.first(new Schedule.Planned(unrun.planned())));
		}
		else if (this.declaration.rerun() && last.outcome() != JobRun.Outcome.SUCCEEDED
				&& last.outcome() != JobRun.Outcome.FAILED) {
			this.first.call(JobRequest.look(last, this.first.latest()));
		}
	}

	private @Nullable Unrun latestUnrun(JobRun last, Instant earliest) {
		// Otherwise the job had another schedule then
		if (this.tasks.stream().noneMatch((task) -> task.plan().plans(last.plannedAt()))) {
			return null;
		}
		boolean neverBegan = last.outcome() == JobRun.Outcome.ABANDONED;
		Unrun latest = null;
		for (JobTask task : this.tasks) {
			Instant planned = task.plan().latestAfter(last.plannedAt(), neverBegan, earliest);
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
