package dev.dblock.job.micrometer;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobShards;
import dev.dblock.job.ShardNames;
import dev.dblock.job.event.JobListener;
import dev.dblock.job.micrometer.JobMeterDocumentation.Keys;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records the runs of jobs. The time since the last success is based on the runs of this
 * instance and, since other instances run the job as well, on the run record, which also
 * says whether the job is overdue or paused. Reading a gauge triggers a read of the
 * record in the background, at most every 30 seconds. Runs that code requests with
 * {@link JobFiring#at} are not recorded.
 */
public final class JobMeters implements JobListener {

	private static final Logger logger = LoggerFactory.getLogger(JobMeters.class);

	private static final Duration FRESH = Duration.ofSeconds(30);

	/** The outcomes of runs that have begun. */
	private static final Set<JobRun.Outcome> COUNTED = EnumSet
		.complementOf(EnumSet.of(JobRun.Outcome.ABANDONED, JobRun.Outcome.MISSED));

	private final MeterRegistry registry;

	private final Supplier<@Nullable JobOperations> jobs;

	private final Executor background;

	private final Map<String, KnownJob> known = new ConcurrentHashMap<>();

	/**
	 * Create the meters.
	 * @param registry the registry of the meters
	 * @param jobs the jobs of the application, if it has any
	 * @param background executor that reads the run record
	 */
	public JobMeters(MeterRegistry registry, Supplier<@Nullable JobOperations> jobs, Executor background) {
		this.registry = registry;
		this.jobs = jobs;
		this.background = background;
	}

	@Override
	public void onAcquired(LockHandle handle) {
		JobRun.of(handle).map((run) -> measured(run.jobId())).filter(this::isMeasured).ifPresent(this::knownJob);
	}

	@Override
	public void onUnavailable(LockRefusal refusal) {
		JobRefusal verdict = JobRefusal.of(refusal);
		JobRun last = (verdict != null) ? verdict.last() : null;
		if (last != null && isMeasured(last.jobId())) {
			knownJob(last.jobId());
		}
	}

	@Override
	public void onRunEnded(String name, JobRun run) {
		JobRun.Outcome outcome = run.outcome();
		Instant end = run.endedAt();
		String jobId = measured(run.jobId());
		if (outcome == null || end == null || !isMeasured(jobId)
				|| (run.shards() > 0 && (run.shard() == 0 || run.shard() > run.shards()))) {
			return;
		}
		KnownJob job = knownJob(jobId);
		timer(jobId, outcome).record(Duration.between(run.startedAt(), end));
		if (outcome == JobRun.Outcome.SUCCEEDED && run.shards() == 0) {
			job.learn(end, end);
		}
	}

	// How long it ran is unknown
	@Override
	public void onRunCrashed(String name, JobRun run) {
		String jobId = measured(run.jobId());
		if (isMeasured(jobId)) {
			knownJob(jobId);
			timer(jobId, JobRun.Outcome.CRASHED).record(Duration.ZERO);
		}
	}

	private Timer timer(String jobId, JobRun.Outcome outcome) {
		return Timer.builder(JobMeterDocumentation.RUNS.getName())
			.description("Runs of jobs on this instance, and crashed runs that it noticed")
			.tag(Keys.JOB_ID.asString(), jobId)
			.tag(Keys.OUTCOME.asString(), outcome.name().toLowerCase(Locale.ROOT))
			.register(this.registry);
	}

	private Counter missed(String jobId) {
		return this.registry.counter(JobMeterDocumentation.MISSED.getName(), Keys.JOB_ID.asString(), jobId);
	}

	@Override
	public void onMissed(String name, String id, Instant plannedAt) {
		String jobId = measured(id);
		if (isMeasured(jobId)) {
			knownJob(jobId);
		}
		missed(jobId).increment();
	}

	/**
	 * Return the id by which a job is measured: shards by that of their job, since there
	 * can be many.
	 */
	private String measured(String jobId) {
		return isMeasured(jobId) ? jobId : ShardNames.jobOf(jobId);
	}

	/**
	 * Whether a job is a method. For other jobs, code determines the planned time, and
	 * the number of their names is unbounded.
	 */
	private boolean isMeasured(String jobId) {
		if (this.known.containsKey(jobId)) {
			return true;
		}
		JobOperations jobs = this.jobs.get();
		return jobs != null && jobs.ids().contains(jobId);
	}

	private KnownJob knownJob(String jobId) {
		if (!this.known.containsKey(jobId)) {
			removeUnknown();
		}
		return this.known.computeIfAbsent(jobId, (id) -> {
			KnownJob job = new KnownJob(id);
			gauge(JobMeterDocumentation.SINCE_SUCCESS, job, KnownJob::secondsSinceSuccess)
				.description("Time since the job last succeeded on any instance")
				.baseUnit("seconds")
				.register(this.registry);
			gauge(JobMeterDocumentation.OVERDUE, job, KnownJob::overdue)
				.description("1 if no instance has run a planned time a minute later")
				.register(this.registry);
			gauge(JobMeterDocumentation.PAUSED, job, KnownJob::paused).description("1 if an operator paused the job")
				.register(this.registry);
			// From zero, since Prometheus sees no increase in a series that begins with
			// one
			COUNTED.forEach((outcome) -> timer(id, outcome));
			missed(id);
			return job;
		});
	}

	private static Gauge.Builder<KnownJob> gauge(JobMeterDocumentation meter, KnownJob job,
			ToDoubleFunction<KnownJob> value) {
		return Gauge.builder(meter.getName(), job, value).tag(Keys.JOB_ID.asString(), job.jobId).strongReference(true);
	}

	/**
	 * Remove the meters of ids that no longer belong to a job. A job without an id of its
	 * own is identified by the last name of its lock, and the number of these names is
	 * unbounded.
	 */
	private void removeUnknown() {
		JobOperations jobs = this.jobs.get();
		Set<String> ids = (jobs != null) ? jobs.ids() : Set.of();
		this.known.keySet().stream().filter((id) -> !ids.contains(id)).toList().forEach((id) -> {
			this.known.remove(id);
			for (JobMeterDocumentation meter : EnumSet.allOf(JobMeterDocumentation.class)) {
				this.registry.find(meter.getName())
					.tag(Keys.JOB_ID.asString(), id)
					.meters()
					.forEach(this.registry::remove);
			}
		});
	}

	/**
	 * What this instance knows of a job.
	 */
	private final class KnownJob {

		private final String jobId;

		private final AtomicBoolean reading = new AtomicBoolean();

		private @Nullable Instant at;

		private double secondsThen = Double.NaN;

		private long knownNanos;

		private double overdue = Double.NaN;

		private double paused = Double.NaN;

		private long readNanos = System.nanoTime() - FRESH.toNanos();

		KnownJob(String jobId) {
			this.jobId = jobId;
		}

		/**
		 * Record a success.
		 * @param success when it ended
		 * @param now the current time of the same clock
		 */
		synchronized void learn(Instant success, Instant now) {
			if (this.at == null || !success.isBefore(this.at)) {
				this.at = success;
				this.secondsThen = Duration.between(success, now).toNanos() / 1e9;
				this.knownNanos = System.nanoTime();
			}
		}

		double secondsSinceSuccess() {
			refresh();
			synchronized (this) {
				return this.secondsThen + (System.nanoTime() - this.knownNanos) / 1e9;
			}
		}

		double overdue() {
			refresh();
			synchronized (this) {
				return this.overdue;
			}
		}

		double paused() {
			refresh();
			synchronized (this) {
				return this.paused;
			}
		}

		private void refresh() {
			if (isDue() && this.reading.compareAndSet(false, true)) {
				JobMeters.this.background.execute(this::read);
			}
		}

		private synchronized boolean isDue() {
			return System.nanoTime() - this.readNanos >= FRESH.toNanos();
		}

		private void read() {
			JobInfo read = null;
			try {
				JobOperations jobs = JobMeters.this.jobs.get();
				read = (jobs != null) ? jobs.find(this.jobId).orElse(null) : null;
				Instant success = (read != null) ? lastSuccess(read) : null;
				if (read != null && success != null) {
					learn(success, read.at());
				}
			}
			catch (RuntimeException ex) {
				logger.debug("The run record of the job '{}' could not be read", this.jobId, ex);
			}
			finally {
				learn((read != null && read.problem() == null) ? read : null);
				this.reading.set(false);
			}
		}

		private synchronized void learn(@Nullable JobInfo read) {
			this.overdue = (read != null) ? number(read.overdue()) : Double.NaN;
			this.paused = (read != null) ? number(read.paused()) : Double.NaN;
			this.readNanos = System.nanoTime();
		}

		private static double number(boolean flag) {
			return flag ? 1 : 0;
		}

		/**
		 * Return the time of the last success; if none of the runs succeeded, it was
		 * before the earliest.
		 */
		private static @Nullable Instant lastSuccess(JobInfo job) {
			List<JobRun> runs = job.runs();
			if (!runs.isEmpty() && runs.get(0).shards() > 0) {
				return job.shards()
					.stream()
					.filter(JobShards::isSuccess)
					.map(JobShards::endedAt)
					.filter(Objects::nonNull)
					.findFirst()
					.orElseGet(() -> runs.get(runs.size() - 1).startedAt());
			}
			return runs.isEmpty() ? null : lastSuccess(runs);
		}

		private static Instant lastSuccess(List<JobRun> runs) {
			for (JobRun run : runs) {
				if (run.outcome() == JobRun.Outcome.SUCCEEDED && run.endedAt() != null) {
					return run.endedAt();
				}
			}
			return runs.get(runs.size() - 1).startedAt();
		}

	}

}
