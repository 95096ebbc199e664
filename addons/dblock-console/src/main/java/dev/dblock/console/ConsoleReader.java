package dev.dblock.console;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.web.WebEndpointHttpMethod;

/**
 * Reads jobs and locks from the server for all pages of this instance: at most once a
 * second, and for at most a tenth of the time.
 */
final class ConsoleReader {

	private static final int MOST_ROWS = 200;

	private static final long SHORTEST_PAUSE = Duration.ofSeconds(1).toNanos();

	private static final int PAUSE_PER_READ = 9;

	private static final long PAUSE_AFTER_FAILURE = Duration.ofSeconds(5).toNanos();

	private final Supplier<LockEngine> engine;

	private final Supplier<@Nullable JobOperations> jobs;

	private final RecentEvents events;

	private final WaitingThreads waiting;

	private final Lock reading = new ReentrantLock();

	private volatile @Nullable Reading last;

	ConsoleReader(Supplier<LockEngine> engine, Supplier<@Nullable JobOperations> jobs, RecentEvents events,
			WaitingThreads waiting) {
		this.engine = engine;
		this.jobs = jobs;
		this.events = events;
		this.waiting = waiting;
	}

	/**
	 * Return the state for a page.
	 * @param filter a part of the name, the holder, the thread or the purpose of the
	 * locks to return. A full name also selects a lock that is free
	 * @param paths the paths of the endpoints for changes
	 * @return the state
	 */
	ConsoleState read(String filter, EndpointPaths paths) {
		Snapshot snapshot = snapshot();
		String part = filter.strip().toLowerCase(Locale.ROOT);
		List<LockInfo> matching = snapshot.locks().locks().stream().filter((lock) -> matches(lock, part)).toList();
		Optional<LockInfo> free = free(filter.strip(), matching);
		long ageMillis = (System.nanoTime() - snapshot.at()) / 1_000_000;
		// The page deducts the age of the list, which a lock that was just read has not
		Stream<ConsoleState.Lock> rows = Stream.concat(
				free.stream().map((lock) -> ConsoleState.Lock.of(lock, ageMillis)),
				matching.stream().map((lock) -> ConsoleState.Lock.of(lock, 0)));
		return new ConsoleState(this.engine.get().acquirer(), ageMillis,
				paths.permitted("dblockjobs", WebEndpointHttpMethod.POST),
				paths.permitted("dblock", WebEndpointHttpMethod.DELETE), snapshot.jobs(),
				rows.sorted(Comparator.comparing(ConsoleState.Lock::name)).limit(MOST_ROWS).toList(),
				matching.size() + (free.isPresent() ? 1 : 0), snapshot.locks().more(), this.waiting.list(),
				this.events.list());
	}

	/**
	 * Return a lock that is not in the list. As long as another thread reads, it is
	 * absent.
	 */
	private Optional<LockInfo> free(String name, List<LockInfo> listed) {
		if (name.isEmpty() || listed.stream().anyMatch((lock) -> lock.name().equals(name)) || !this.reading.tryLock()) {
			return Optional.empty();
		}
		try {
			return this.engine.get().administration().find(name);
		}
		finally {
			this.reading.unlock();
		}
	}

	/**
	 * Return what was read last. Only one thread reads: others would all wait for a
	 * server that does not answer, and take the threads of the application.
	 */
	private Snapshot snapshot() {
		Reading last = this.last;
		if ((last == null || System.nanoTime() - last.end() >= last.pause()) && this.reading.tryLock()) {
			try {
				last = readOnce();
				this.last = last;
			}
			finally {
				this.reading.unlock();
			}
		}
		if (last == null) {
			throw new IllegalStateException("The first request for them is not answered yet");
		}
		return last.snapshot();
	}

	private Reading readOnce() {
		long start = System.nanoTime();
		try {
			// The locks first: their failure is that of each job, which would be slow
			LockPage locks = this.engine.get().administration().list(false, "", LockPage.LARGEST);
			JobOperations operations = this.jobs.get();
			List<JobInfo> jobs = (operations != null)
					? operations.list().stream().map((job) -> withShards(operations, job)).toList() : List.of();
			Snapshot read = new Snapshot(locks, jobs, start);
			long end = System.nanoTime();
			return new Reading(() -> read, end, Math.max(SHORTEST_PAUSE, PAUSE_PER_READ * (end - start)));
		}
		catch (RuntimeException ex) {
			return new Reading(() -> {
				throw ex;
			}, System.nanoTime(), PAUSE_AFTER_FAILURE);
		}
	}

	/**
	 * Return a job with its shards, which a list of jobs does not have.
	 */
	private static JobInfo withShards(JobOperations operations, JobInfo job) {
		boolean sharded = !job.runs().isEmpty() && job.runs().get(0).shards() > 0;
		return sharded ? operations.find(job.id()).orElse(job) : job;
	}

	private static boolean matches(LockInfo lock, String part) {
		return Stream.of(lock.name(), lock.acquirer(), lock.thread(), lock.why())
			.filter(Objects::nonNull)
			.anyMatch((text) -> text.toLowerCase(Locale.ROOT).contains(part));
	}

	/**
	 * State of the server.
	 *
	 * @param locks the locks that are unavailable
	 * @param jobs the jobs
	 * @param at when the request for it began, by {@link System#nanoTime()}
	 */
	private record Snapshot(LockPage locks, List<JobInfo> jobs, long at) {
	}

	/**
	 * Result of one read.
	 *
	 * @param result returns the state, or throws the failure
	 * @param end when the read ended
	 * @param pause for how many nanoseconds the result is used
	 */
	private record Reading(Supplier<Snapshot> result, long end, long pause) {

		Snapshot snapshot() {
			return this.result.get();
		}

	}

}
