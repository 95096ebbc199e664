package dev.dblock.core;

import java.time.Duration;

/**
 * Whether the feed of releases is of use: whether threads wait, and whether locks that
 * they wait for are released. Guarded by the monitor of {@link ReleaseSignals}, except
 * for the time since which it is quiet.
 */
final class FeedUse {

	private static final int MOST_DOUBLINGS = 6;

	private final Patience patience;

	private int waiters;

	private long idleSinceNanos;

	private volatile long quietSinceNanos;

	/** How many releases were missed while the feed was closed. */
	private int missed;

	FeedUse(Patience patience) {
		this.patience = patience;
	}

	int waiters() {
		return this.waiters;
	}

	void enter() {
		this.waiters++;
	}

	void leave(long nanos) {
		this.waiters--;
		this.idleSinceNanos = nanos;
	}

	/**
	 * Record that the feed is of use now: it was opened, reports a release, or is
	 * interrupted, which is not quiet.
	 */
	void needed(long nanos) {
		this.quietSinceNanos = nanos;
	}

	void missed() {
		this.missed++;
	}

	/**
	 * Return for how long the feed stays open, at the longest, without being of use.
	 */
	long quietNanos() {
		return this.patience.quiet().toNanos() << Math.min(this.missed, MOST_DOUBLINGS);
	}

	/**
	 * Return when to check the feed next, at the latest: the last waiter may leave before
	 * a time is over.
	 */
	long checkNanos(long nanos) {
		return Math.min(nanos, this.patience.idle().toNanos());
	}

	/**
	 * Return whether a process whose waiters get no report for a time has closed its
	 * feed.
	 */
	boolean isClosedAfter(long nanos) {
		return nanos >= this.patience.quiet().toNanos();
	}

	/**
	 * Return how much longer the feed stays open without being of use.
	 */
	long leftNanos(long nanos) {
		return (this.waiters == 0) ? this.patience.idle().toNanos() - (nanos - this.idleSinceNanos)
				: quietNanos() - (nanos - this.quietSinceNanos);
	}

	/**
	 * Record that the feed is closed, because it was not of use.
	 * @return whether threads wait nevertheless
	 */
	boolean closed() {
		this.missed = (this.waiters == 0) ? 0 : this.missed;
		return this.waiters > 0;
	}

	/**
	 * How long the feed stays open without being of use.
	 *
	 * @param idle when no thread waits any more
	 * @param quiet when no lock that a thread waits for is released
	 */
	record Patience(Duration idle, Duration quiet) {

		static final Patience USUAL = new Patience(Duration.ofSeconds(30), Duration.ofSeconds(10));

	}

}
