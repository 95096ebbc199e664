package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.store.ReleaseFeed;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the store's feed of releases open while a thread waits and for some time
 * afterwards, and passes its reports on to the queues. A feed can cost the store with
 * each write of the application. Therefore waiters poll instead while no lock that they
 * wait for is released for a long time.
 */
final class ReleaseSignals {

	private static final long UNSUPPORTED_NANOS = TimeUnit.MINUTES.toNanos(5);

	private static final Logger logger = LoggerFactory.getLogger(ReleaseSignals.class);

	private static final Duration CLOSE = Duration.ofSeconds(3);

	private final ReleaseFeed feed;

	private final boolean alwaysPolls;

	private final LocalQueues queues;

	private final ScheduledExecutorService timer;

	private final LockClock clock;

	private final FeedUse use;

	private volatile @Nullable Subscription subscription;

	private boolean checking;

	private boolean closed;

	private volatile boolean listening;

	private final Unsupported unsupported = new Unsupported();

	/**
	 * Create signals from a feed.
	 * @param feed the feed
	 * @param alwaysPolls whether waiters poll, and the feed is never opened
	 * @param queues the queues to notify
	 * @param timer closes the feed
	 * @param clock the clock
	 * @param patience how long the feed stays open without being of use
	 */
	ReleaseSignals(ReleaseFeed feed, boolean alwaysPolls, LocalQueues queues, ScheduledExecutorService timer,
			LockClock clock, FeedUse.Patience patience) {
		this.feed = feed;
		this.alwaysPolls = alwaysPolls;
		this.queues = queues;
		this.timer = timer;
		this.clock = clock;
		this.use = new FeedUse(patience);
	}

	/**
	 * Return whether every release is reported at present.
	 */
	boolean isListening() {
		return this.listening;
	}

	/**
	 * Return whether a process whose waiters get no report for a time has closed its
	 * feed.
	 */
	boolean isClosedAfter(long nanos) {
		return this.use.isClosedAfter(nanos);
	}

	/**
	 * Return whether the feed is open or was tried, but does not report releases. This is
	 * read without the monitor, so that a queue can call it under its own monitor.
	 */
	boolean isPolling() {
		return this.alwaysPolls || !this.listening && (this.unsupported.isNow() || this.subscription != null);
	}

	/**
	 * Return whether a thread waits for another process, or waited until recently.
	 */
	synchronized boolean areWanted() {
		return this.subscription != null || this.use.waiters() > 0;
	}

	/**
	 * Record that a thread begins to wait for a lock that another process has.
	 */
	synchronized void enter() {
		this.use.enter();
		open();
	}

	/**
	 * Record that a waiter has found another grant than before. If the feed was closed by
	 * then, it stays open for twice as long from now on: those that listen are always
	 * earlier than those that poll.
	 */
	synchronized void noticeRelease() {
		if (this.subscription == null && !this.unsupported.isNow()) {
			this.use.missed();
		}
		open();
	}

	private void open() {
		long now = this.clock.nanoTime();
		this.use.needed(now);
		this.unsupported.expire(now);
		if (this.alwaysPolls || this.unsupported.isNow() || this.closed) {
			return;
		}
		if (this.subscription == null) {
			this.subscription = new Subscription();
		}
		if (!this.checking) {
			checkLater(this.use.quietNanos());
		}
		// Has no effect on an open feed, and restarts one that could not be started
		// before
		this.feed.open(this.subscription);
	}

	synchronized int waiters() {
		return this.use.waiters();
	}

	synchronized void leave() {
		this.use.leave(this.clock.nanoTime());
	}

	/**
	 * Check later whether the feed is still of use.
	 */
	private void checkLater(long nanos) {
		try {
			ScheduledFuture<?> unused = this.timer.schedule(this::closeIfUnused, this.use.checkNanos(nanos),
					TimeUnit.NANOSECONDS);
			this.checking = true;
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The engine was closed, and the feed of releases with it");
		}
	}

	/**
	 * Close the feed if it has not been of use for long enough. Threads that wait
	 * nevertheless poll from then on.
	 */
	void closeIfUnused() {
		if (closeUnused()) {
			this.queues.signalAll();
		}
	}

	private synchronized boolean closeUnused() {
		this.checking = false;
		if (this.subscription == null) {
			return false;
		}
		long now = this.clock.nanoTime();
		if (this.use.waiters() > 0 && !this.listening) {
			// An outage is not quiet
			this.use.needed(now);
		}
		long left = this.use.leftNanos(now);
		if (left > 0) {
			checkLater(left);
			return false;
		}
		this.subscription = null;
		this.listening = false;
		this.feed.close(Duration.ZERO);
		return this.use.closed();
	}

	/**
	 * Stop subscribing, and wait until the feed is closed.
	 */
	void close() {
		synchronized (this) {
			this.closed = true;
			this.subscription = null;
			this.listening = false;
		}
		this.feed.close(CLOSE);
	}

	private synchronized boolean listens(Subscription reporter, boolean listening) {
		boolean current = this.subscription == reporter;
		if (current) {
			this.listening = listening;
		}
		return current;
	}

	/**
	 * Give up a feed until it is retried much later.
	 * @return whether waiters may rely on the feed, so that they should poll now
	 */
	private synchronized boolean giveUp(Subscription reporter, String reason) {
		boolean before = this.listening;
		if (!listens(reporter, false)) {
			return false;
		}
		this.subscription = null;
		if (this.unsupported.begin(this.clock.nanoTime())) {
			logger.info("Waiters poll for their locks, and try again when the holder's lease ends: {}", reason);
		}
		return before;
	}

	/**
	 * Whether the store does not support the feed, until it is tried again. Changed under
	 * the monitor of the signals; whether it is so now is read without it.
	 */
	private static final class Unsupported {

		private volatile boolean now;

		private long sinceNanos;

		private boolean before;

		boolean isNow() {
			return this.now;
		}

		void expire(long nanos) {
			this.now = this.now && nanos - this.sinceNanos <= UNSUPPORTED_NANOS;
		}

		/**
		 * Return whether this is the first time.
		 */
		boolean begin(long nanos) {
			this.now = true;
			this.sinceNanos = nanos;
			boolean first = !this.before;
			this.before = true;
			return first;
		}

	}

	/**
	 * One opening of the feed. Reports of an earlier opening that has not stopped yet
	 * have no effect.
	 */
	private final class Subscription implements ReleaseFeed.Listener {

		private volatile boolean logged;

		@Override
		public void listening() {
			if (listens(this, true)) {
				ReleaseSignals.this.queues.signalAll();
			}
		}

		@Override
		public void released(String name) {
			if (ReleaseSignals.this.queues.signal(name)) {
				ReleaseSignals.this.use.needed(ReleaseSignals.this.clock.nanoTime());
			}
		}

		@Override
		public void interrupted(String reason) {
			boolean before = isListening();
			if (!listens(this, false)) {
				return;
			}
			if (before || !this.logged) {
				this.logged = true;
				logger.info("Releases of locks are not reported at the moment, so waiters poll for them: {}", reason);
			}
			if (before) {
				ReleaseSignals.this.queues.signalAll();
			}
		}

		@Override
		public void unsupported(String reason) {
			if (giveUp(this, reason)) {
				ReleaseSignals.this.queues.signalAll();
			}
		}

	}

}
