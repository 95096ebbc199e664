package dev.dblock.core;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.LockInfo;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LockClock;
import dev.dblock.store.LeaseKey;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the acquisitions that this process no longer wants, although the store may
 * have them as the holder: an acquire or a release was not answered. The network may
 * deliver an acquire after every release that followed it, and then the process would be
 * refused because of itself. An acquisition is recognized by its random id. The name of
 * the process would not do, because a copy of a running process has the same name.
 */
final class GivenUpLeases {

	/**
	 * When there are more, the oldest are forgotten. Their locks become free when the
	 * leases end.
	 */
	static final int MOST = 10_000;

	/**
	 * How long the network may take to deliver a request. For about this long, TCP
	 * repeats what was not acknowledged ({@code tcp_retries2} of Linux), even if the
	 * connection was closed in the meantime.
	 */
	static final Duration LONGEST_DELIVERY = Duration.ofMinutes(15);

	private final Map<String, GivenUp> byHolder = new LinkedHashMap<>();

	private final LockClock clock;

	GivenUpLeases(LockClock clock) {
		this.clock = clock;
	}

	synchronized void remember(GivenUp lease) {
		this.byHolder.put(lease.key().holder(), lease);
		forgetOldest();
	}

	private void forgetOldest() {
		Iterator<GivenUp> oldestFirst = this.byHolder.values().iterator();
		while (oldestFirst.hasNext() && (isOver(oldestFirst.next()) || this.byHolder.size() > MOST)) {
			oldestFirst.remove();
		}
	}

	/**
	 * Return whether an acquisition can no longer be the holder, however late its request
	 * was applied.
	 */
	private boolean isOver(GivenUp lease) {
		return lease.end().remainingNanos(this.clock) + LONGEST_DELIVERY.toNanos() < 0;
	}

	synchronized void forget(GivenUp lease) {
		this.byHolder.remove(lease.key().holder());
	}

	synchronized boolean contains(GivenUp lease) {
		return this.byHolder.containsKey(lease.key().holder());
	}

	/**
	 * Return the acquisition that the store shows as the holder of a lock, if it was
	 * given up here.
	 */
	synchronized @Nullable GivenUp find(LockInfo lock) {
		forgetOldest();
		return this.byHolder.get(lock.holder());
	}

	synchronized int size() {
		return this.byHolder.size();
	}

	/**
	 * An acquisition that the store may have as the holder.
	 *
	 * @param key the acquisition
	 * @param end when its lease ends, if the request was applied when it was sent
	 * @param limit the time limit of that request
	 * @param release releases it
	 */
	record GivenUp(LeaseKey key, LeaseDeadline end, Duration limit, Release release) {
	}

	/**
	 * Sends one request to release an acquisition.
	 */
	@FunctionalInterface
	interface Release {

		/**
		 * Send the request.
		 * @param limit how long it may take
		 * @return whether the store had this acquisition as the holder
		 */
		boolean send(Duration limit);

	}

}
