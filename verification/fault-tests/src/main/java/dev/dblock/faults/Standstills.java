package dev.dblock.faults;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Detects when the whole machine stood still, as can happen on a shared host: a thread
 * that only sleeps wakes up long after its time. No process can enter a section
 * meanwhile. Only long standstills count, because each one also splits the time around
 * it.
 * <p>
 * After a standstill of about the servers' election timeout, the servers elect a primary,
 * because none of them has received a heartbeat. The election is part of the standstill.
 */
final class Standstills implements AutoCloseable {

	static final Duration SHORTEST = Duration.ofSeconds(1);

	/**
	 * The servers' election timeout, minus the time between two heartbeats.
	 */
	static final Duration CAUSES_ELECTION = Duration.ofMillis(1500);

	/**
	 * The servers' election timeout, which may start again, and one second for the vote.
	 */
	static final Duration ELECTION = Duration.ofSeconds(3);

	private static final Duration SLEEP = Duration.ofMillis(20);

	private final FaultLog log;

	private final Thread thread = new Thread(this::run, "standstills");

	private volatile boolean closed;

	private Standstills(FaultLog log) {
		this.log = log;
	}

	static Standstills watch(FaultLog log) {
		Standstills standstills = new Standstills(log);
		standstills.thread.setDaemon(true);
		standstills.thread.setPriority(Thread.MAX_PRIORITY);
		standstills.thread.start();
		return standstills;
	}

	private void run() {
		long last = System.nanoTime();
		while (!this.closed) {
			LockSupport.parkNanos(SLEEP.toNanos());
			long now = System.nanoTime();
			record(this.log, last, now);
			last = now;
		}
	}

	static void record(FaultLog log, long lastNanos, long nanos) {
		long stood = nanos - lastNanos;
		if (stood > SHORTEST.toNanos()) {
			log.addSeen("machine stood still", lastNanos,
					(stood < CAUSES_ELECTION.toNanos()) ? nanos : nanos + ELECTION.toNanos());
		}
	}

	@Override
	public void close() {
		this.closed = true;
	}

}
