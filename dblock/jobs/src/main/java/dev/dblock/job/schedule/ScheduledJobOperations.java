package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobShards;
import dev.dblock.job.ShardNames;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;

/**
 * {@link JobOperations} for the jobs that the schedulers of this application call, and
 * their records.
 */
final class ScheduledJobOperations implements JobOperations {

	private static final Logger logger = LoggerFactory.getLogger(ScheduledJobOperations.class);

	/** How long a planned time can be unanswered before the job is overdue. */
	private static final Duration TOLERANCE = Duration.ofMinutes(1);

	/** How long to wait for the answer to a manual run. */
	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private final List<ScheduledJobs> contexts;

	/**
	 * Create the operations.
	 * @param contexts the jobs of each context, the nearest first
	 */
	ScheduledJobOperations(List<ScheduledJobs> contexts) {
		this.contexts = List.copyOf(contexts);
	}

	@Override
	public Set<String> ids() {
		return this.contexts.stream()
			.flatMap((context) -> context.jobs().stream())
			.map(JobMethod::id)
			.collect(Collectors.toUnmodifiableSet());
	}

	@Override
	public List<JobInfo> list() {
		Map<LockEngine, String> unreachable = new IdentityHashMap<>();
		return this.contexts.stream()
			.flatMap((context) -> context.jobs().stream().map((job) -> listed(context, job, unreachable)))
			.sorted(Comparator.comparing(JobInfo::id))
			.toList();
	}

	@Override
	public Optional<JobInfo> find(String jobId) {
		return known(jobId).or(() -> shard(jobId)).map((known) -> {
			JobInfo job = info(known.context(), known.method());
			return known.method().isSharded() ? job.withShards(shards(known.method(), job.runs())) : job;
		});
	}

	/**
	 * Return a job. After a failed request to a server, no requests for other jobs are
	 * sent to it, so that the list does not take the time limit for each.
	 */
	private static JobInfo listed(ScheduledJobs context, JobMethod job, Map<LockEngine, String> unreachable) {
		LockEngine engine = job.declaration().engine();
		String problem = unreachable.get(engine);
		if (problem == null) {
			try {
				return info(context, job);
			}
			catch (RuntimeException ex) {
				logger.debug("The run record of the job '{}' could not be read", job.id(), ex);
				problem = String.valueOf(ex.getMessage());
				if (ex instanceof DataAccessException) {
					unreachable.put(engine, problem);
				}
			}
		}
		return info(context, job, null, problem);
	}

	private static List<JobShards> shards(JobMethod job, List<JobRun> begun) {
		int most = begun.stream().mapToInt(JobRun::shards).max().orElse(0);
		List<List<JobRun>> runs = job.declaration().runsOfShards(most, null);
		List<JobShards> shards = new ArrayList<>();
		Set<Instant> added = new HashSet<>();
		for (JobRun run : begun) {
			// A crashed beginning was repeated
			if (Shards.isBegun(run) && added.add(run.plannedAt())) {
				boolean later = !shards.isEmpty() && run.plannedAt().isBefore(shards.get(0).plannedAt());
				shards.add(
						JobShards.of(run.plannedAt(), runs.subList(0, run.shards()), later, job.declaration().rerun()));
			}
		}
		return shards;
	}

	private static JobInfo info(ScheduledJobs context, JobMethod job) {
		String lock = job.lock();
		return info(context, job, (lock != null) ? job.declaration().status(lock, null).orElse(null) : null, null);
	}

	private static JobInfo info(ScheduledJobs context, JobMethod job, @Nullable JobStatus found,
			@Nullable String problem) {
		JobStatus status = (found != null) ? found : new JobStatus(job.id(), List.of(), false, null, null, null, null,
				context.clock(List.of(job)).now(Clock.systemUTC()));
		List<JobTask> tasks = context.tasks(job);
		List<JobPlan> plans = tasks.stream().map(JobTask::plan).toList();
		List<JobInfo.Schedule> schedules = plans.stream()
			.map(JobPlan::schedule)
			.sorted(Comparator.comparing(JobInfo.Schedule::description))
			.toList();
		tasks.stream().findFirst().ifPresent((task) -> task.plan().compare(status.runs(), task.plans().text()));
		boolean overdue = plans.stream()
			.map(JobPlan::openSince)
			.filter(Objects::nonNull)
			.min(Comparator.naturalOrder())
			.filter((open) -> tasks.stream().noneMatch(JobTask::isWorking))
			.filter((open) -> open.plus(TOLERANCE).isBefore(status.at()) && !isRunOrPaused(status, open))
			.isPresent();
		return new JobInfo(job.id(), job.lock(), job.bean(), job.method(), schedules, status.paused(),
				status.pausedBy(), status.paused() ? status.pausedAt() : null, status.heldBy(), overdue, status.at(),
				status.runs(), List.of(), problem);
	}

	private static boolean isRunOrPaused(JobStatus status, Instant planned) {
		JobRun last = status.runs().isEmpty() ? null : status.runs().get(0);
		return status.paused() || (last != null && (last.outcome() == null || !last.plannedAt().isBefore(planned)));
	}

	@Override
	public void pause(String jobId, String by) {
		Known known = require(jobId);
		known.method().declaration().pause(known.lock(), by);
	}

	@Override
	public boolean resume(String jobId) {
		Known known = require(jobId);
		return known.method().declaration().resume(known.lock());
	}

	@Override
	public ManualRun runNow(String jobId) {
		Known known = require(jobId);
		if (known.method().declaration().shards() > 0) {
			return new ManualRun(ManualRun.Outcome.REFUSED,
					"It has shards, which are run only for planned times, so that each instance knows its own");
		}
		String heldBy = info(known.context(), known.method()).runningOn();
		if (heldBy != null) {
			return new ManualRun(ManualRun.Outcome.REFUSED, "Its lock is held by " + heldBy);
		}
		// The tasks of several beans with one class cannot be distinguished
		return known.context()
			.tasks(known.method())
			.stream()
			.filter((task) -> task.methods().size() == 1)
			.findFirst()
			.map((task) -> ManualCall.run(task, PATIENCE))
			.orElseGet(() -> new ManualRun(ManualRun.Outcome.REFUSED,
					"No scheduler of this instance calls it, or several beans of its class are jobs"));
	}

	private Optional<Known> known(String jobId) {
		return this.contexts.stream()
			.flatMap((context) -> context.jobs().stream().map((job) -> new Known(context, job)))
			.filter((known) -> known.method().isKnownAs(jobId))
			.min(Comparator.comparing((known) -> !known.method().id().equals(jobId)));
	}

	private Optional<Known> shard(String id) {
		int number = ShardNames.numberOf(id);
		return (number > 0)
				? known(ShardNames.jobOf(id)).filter((known) -> known.method().isSharded())
					.map((known) -> new Known(known.context(), new JobMethod(known.method(), number)))
				: Optional.empty();
	}

	private Known require(String jobId) {
		return known(jobId).orElseThrow(() -> new IllegalArgumentException(
				shard(jobId).isPresent() ? "'%s' is a shard; use the job '%s'".formatted(jobId, ShardNames.jobOf(jobId))
						: "This application has no job with the id '" + jobId + "'"));
	}

	/**
	 * A job of a context.
	 *
	 * @param context the jobs of its context
	 * @param method its method
	 */
	private record Known(ScheduledJobs context, JobMethod method) {

		String lock() {
			String lock = this.method.lock();
			if (lock == null) {
				throw new IllegalStateException(("The lock of the job '%s' is not known yet, because only a call"
						+ " determines its name, and this instance has made no call")
					.formatted(this.method.id()));
			}
			return lock;
		}

	}

}
