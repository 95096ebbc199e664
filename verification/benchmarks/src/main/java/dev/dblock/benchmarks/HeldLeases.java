package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Many locks that one process holds for a while.
 */
final class HeldLeases {

	/**
	 * A lease of 30 s, the default, is renewed after a third of its time.
	 */
	private static final Duration ROUND = Duration.ofSeconds(10);

	private static final long LOOK_MILLIS = 100;

	private final LockTemplate template;

	private final @Nullable LockHandle[] handles;

	private final SentCommands commands;

	private HeldLeases(LockTemplate template, SentCommands commands, int count) {
		this.template = template;
		this.commands = commands;
		this.handles = new @Nullable LockHandle[count];
	}

	/**
	 * Hold locks for a while and measure.
	 * @param addresses the addresses of the servers
	 * @param count the number of locks
	 * @param time how long to hold them
	 * @return the measurements
	 * @throws Exception if a lock could not be acquired
	 */
	static Document measure(Addresses addresses, int count, Duration time) throws Exception {
		SentCommands commands = new SentCommands();
		try (Lab lab = new Lab(addresses, commands); DblockLocks application = lab.application()) {
			HeldLeases leases = new HeldLeases(application.template(), commands, count);
			// Create connections, buffers and classes before the heap is measured first
			leases.acquire("warm-up-");
			leases.release();
			return leases.hold(time);
		}
	}

	private Document hold(Duration time) throws Exception {
		Heap before = Heap.afterCollection();
		acquire("lease-");
		Heap after = Heap.afterCollection();
		List<Long> rounds = new ArrayList<>();
		Duration shortest = Duration.ofDays(1);
		long start = System.nanoTime();
		long commandsBefore = this.commands.count();
		while (System.nanoTime() - start < time.toNanos()) {
			TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
			Duration remaining = shortestRemaining();
			shortest = (remaining.compareTo(shortest) < 0) ? remaining : shortest;
			if ((System.nanoTime() - start) / ROUND.toNanos() > rounds.size()) {
				long commandsNow = this.commands.count();
				rounds.add(commandsNow - commandsBefore);
				commandsBefore = commandsNow;
			}
		}
		long lost = Arrays.stream(this.handles).filter((handle) -> handle != null && !handle.isHeld()).count();
		release();
		return new Document("bytesPerLease", (double) (after.used() - before.used()) / this.handles.length)
			.append("rounds", rounds)
			.append("shortestMillis", shortest.toMillis())
			.append("lost", lost);
	}

	private Duration shortestRemaining() {
		Duration shortest = Duration.ofDays(1);
		for (LockHandle handle : this.handles) {
			if (handle != null && handle.remaining().compareTo(shortest) < 0) {
				shortest = handle.remaining();
			}
		}
		return shortest;
	}

	private void acquire(String prefix) throws Exception {
		ManyThreads.forEach(0, this.handles.length,
				(number) -> this.handles[number] = this.template.acquire(prefix + number));
	}

	private void release() throws Exception {
		ManyThreads.forEach(0, this.handles.length, (number) -> {
			LockHandle handle = this.handles[number];
			this.handles[number] = null;
			if (handle != null) {
				handle.release();
			}
		});
	}

}
