package dev.dblock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.dblock.LockHandle;
import dev.dblock.faults.JobEvent.What;
import dev.dblock.job.JobRun;
import dev.dblock.job.event.JobListener;

import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Records of one process about its jobs: a file to which each event is appended by a
 * separate write, so that no event is lost when the process is killed.
 */
final class JobRecords implements JobListener {

	private static final String PREFIX = "jobs-";

	private static final Duration LIMIT = Duration.ofMinutes(1);

	private final int worker;

	private final int life;

	private final Stamps stamps;

	private final FileChannel file;

	JobRecords(Path folder, int worker, int life, Stamps stamps) {
		this.worker = worker;
		this.life = life;
		this.stamps = stamps;
		try {
			this.file = FileChannel.open(folder.resolve(PREFIX + worker + "-" + life + ".tsv"),
					StandardOpenOption.CREATE, StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Record that the application is about to schedule its jobs.
	 */
	@EventListener(ContextRefreshedEvent.class)
	@Order(Ordered.HIGHEST_PRECEDENCE)
	void starting() {
		add(What.STARTING, "-", 0, 0, System.currentTimeMillis(), 0);
	}

	/**
	 * Record that the application has started.
	 */
	void ready() {
		add(What.READY, "-", 0, 0, 0, 0);
	}

	/**
	 * Do the work of a job for the planned time for which its lock was granted.
	 * @param job the name of its lock
	 * @param millis how long the work takes
	 */
	void work(String job, long millis) throws InterruptedException {
		JobRun run = JobRun.current().orElseThrow();
		this.stamps.beginWrite(this.worker, Moment.RUN);
		try {
			add(What.BEGUN, job, run);
			TimeUnit.MILLISECONDS.sleep(millis);
			add(What.ENDED, job, run);
		}
		finally {
			this.stamps.endWrite(this.worker, Moment.RUN);
		}
	}

	/**
	 * Do the work of a job without a planned time.
	 * @param job the name of its lock
	 * @param second the second of its own clock
	 */
	void workAt(String job, long second) {
		add(What.BEGUN, job, second * 1000, 1, second * 1000, 0);
	}

	@Override
	public void onReleased(LockHandle handle) {
		JobRun.of(handle).ifPresent((run) -> add(What.RELEASED, handle.name(), run));
	}

	@Override
	public void onMissed(String name, String jobId, Instant plannedAt) {
		add(What.MISSED, name, plannedAt.toEpochMilli(), 0, 0, 0);
	}

	/**
	 * Record that a job is about to be paused, or was resumed.
	 */
	void paused(What what, String job) {
		add(what, job, 0, 0, 0, 0);
	}

	private void add(What what, String job, JobRun run) {
		add(what, job, run.plannedAt().toEpochMilli(), run.attempt(), run.startedAt().toEpochMilli(), run.token());
	}

	private void add(What what, String job, long planned, int attempt, long started, long token) {
		JobEvent event = new JobEvent(what, this.worker, this.life, job, planned, attempt, started, token,
				System.nanoTime());
		try {
			this.file.write(ByteBuffer.wrap((event.line() + "\n").getBytes(StandardCharsets.UTF_8)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static boolean haveBegun(Path folder, int worker, int life) {
		Path file = folder.resolve(PREFIX + worker + "-" + life + ".tsv");
		try {
			return Files.exists(file) && Files.readString(file).contains(What.READY.name());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Read the events of all processes, in the order of time, and behind them what their
	 * logs report as skipped, in each second.
	 */
	static List<JobEvent> readWithLogs(Path folder, Collection<Integer> workers) throws IOException {
		List<JobEvent> events = read(folder);
		for (int worker : workers) {
			Files.readAllLines(folder.resolve(Fleet.name(worker) + ".log"), StandardCharsets.ISO_8859_1)
				.forEach((line) -> AccountLine.in(line).filter(AccountLine::skipped).ifPresent((report) -> {
					for (Instant at = report.from(); !at.isAfter(report.to()); at = at.plusSeconds(1)) {
						events.add(new JobEvent(What.SKIPPED, worker, 0, CronJobs.job(report.job()), at.toEpochMilli(),
								0, 0, 0, 0));
					}
				}));
		}
		return events;
	}

	/**
	 * Wait until the events of all processes contain what is expected.
	 * @param missing what has not happened otherwise
	 */
	static void await(Path folder, Predicate<List<JobEvent>> expected, Supplier<String> missing)
			throws InterruptedException, IOException {
		long end = System.nanoTime() + LIMIT.toNanos();
		while (!expected.test(read(folder))) {
			if (System.nanoTime() > end) {
				throw new IllegalStateException(missing.get() + " within " + LIMIT);
			}
			TimeUnit.MILLISECONDS.sleep(100);
		}
	}

	/**
	 * Read the events of all processes, in the order of time.
	 */
	static List<JobEvent> read(Path folder) throws IOException {
		List<JobEvent> events = new ArrayList<>();
		try (Stream<Path> files = Files.list(folder)) {
			for (Path file : files.filter((path) -> path.getFileName().toString().startsWith(PREFIX)).toList()) {
				Files.readAllLines(file).forEach((line) -> events.add(JobEvent.parse(line)));
			}
		}
		events.sort((one, other) -> Long.compare(one.nanos(), other.nanos()));
		return events;
	}

}
