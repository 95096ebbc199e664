package dev.dblock.console;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
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

	private final Supplier<LockEngine> engine;

	private final Supplier<@Nullable JobOperations> jobs;

	private final RecentEvents events;

	private final WaitingThreads waiting;

	private @Nullable Snapshot snapshot;

	ConsoleReader(Supplier<LockEngine> engine, Supplier<@Nullable JobOperations> jobs, RecentEvents events,
			WaitingThreads waiting) {
		this.engine = engine;
		this.jobs = jobs;
		this.events = events;
		this.waiting = waiting;
	}

	/**
	 * Return the state for a page.
	 * @param filter a part of the name, the holder or the purpose of the locks to return,
	 * or the full name of a lock that is free
	 * @param paths the paths of the endpoints for changes
	 * @return the state
	 */
	ConsoleState read(String filter, EndpointPaths paths) {
		Snapshot snapshot = snapshot();
		List<LockInfo> matching = snapshot.locks().locks().stream().filter((lock) -> matches(lock, filter)).toList();
		if (matching.isEmpty() && !filter.isBlank()) {
			matching = this.engine.get().administration().find(filter).stream().toList();
		}
		return new ConsoleState(this.engine.get().acquirer(), (System.nanoTime() - snapshot.at()) / 1_000_000,
				paths.permitted("dblockjobs", WebEndpointHttpMethod.POST),
				paths.permitted("dblock", WebEndpointHttpMethod.DELETE), snapshot.jobs(),
				matching.stream().limit(MOST_ROWS).map(ConsoleState.Lock::of).toList(), matching.size(),
				snapshot.locks().more(), this.waiting.list(), this.events.list());
	}

	private synchronized Snapshot snapshot() {
		Snapshot last = this.snapshot;
		long now = System.nanoTime();
		if (last != null && now - last.at() < last.pause()) {
			return last;
		}
		// The locks first: their failure is that of each job, which would be slow
		LockPage locks = this.engine.get().administration().list(false, "", LockPage.LARGEST);
		JobOperations operations = this.jobs.get();
		List<JobInfo> jobs = (operations != null) ? operations.list() : List.of();
		long end = System.nanoTime();
		Snapshot read = new Snapshot(locks, jobs, end, Math.max(SHORTEST_PAUSE, PAUSE_PER_READ * (end - now)));
		this.snapshot = read;
		return read;
	}

	private static boolean matches(LockInfo lock, String filter) {
		String part = filter.strip().toLowerCase(Locale.ROOT);
		return Stream.of(lock.name(), lock.acquirer(), lock.thread(), lock.why())
			.filter(Objects::nonNull)
			.anyMatch((text) -> text.toLowerCase(Locale.ROOT).contains(part));
	}

	/**
	 * State of the server.
	 *
	 * @param locks the locks that are unavailable
	 * @param jobs the jobs
	 * @param at when it was read, by {@link System#nanoTime()}
	 * @param pause for how many nanoseconds it is used
	 */
	private record Snapshot(LockPage locks, List<JobInfo> jobs, long at, long pause) {
	}

}
