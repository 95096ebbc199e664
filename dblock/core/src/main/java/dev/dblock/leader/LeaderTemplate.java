package dev.dblock.leader;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOperations;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.LossReason;
import dev.dblock.engine.HeldLock;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/**
 * Lets one instance of an application lead: the one that holds a lock. All others wait
 * for it. Declare one bean for each thing to lead:
 *
 * <pre class="code">
 * &#64;Bean
 * LeaderTemplate priceLeader(LockTemplate locks, PriceFeed feed) {
 *   return new LeaderTemplate(locks, "prices", feed);
 * }
 * </pre>
 *
 * An instance leads until its context stops, its lease is lost, or {@link #stepDown()}.
 * It stops in the first phase of the context, before the web server finishes its
 * requests, so that at a rollout another instance leads while this one still serves. The
 * idea is that of Spring Integration's {@code LockRegistryLeaderInitiator}.
 */
public final class LeaderTemplate implements SmartLifecycle, DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(LeaderTemplate.class);

	/** After it, the lock is requested again. */
	private static final Duration WAIT = Duration.ofHours(1);

	/** By default, longer than the others take to notice a release by polling. */
	private static final long PAUSE_MILLIS = 2000;

	private final LockOperations locks;

	private final String name;

	private final LockOptions options;

	private final LeaderListener listener;

	/** The last one; it may still be about to end. */
	private @Nullable Candidate candidate;

	private boolean running;

	/**
	 * Create a template with the default options.
	 * @param locks the locks
	 * @param name the name of the lock
	 * @param listener notified when this instance begins and ends to lead
	 */
	public LeaderTemplate(LockOperations locks, String name, LeaderListener listener) {
		this(locks, name, LockOptions.defaults(), listener);
	}

	/**
	 * Create a template.
	 * @param locks the locks
	 * @param name the name of the lock
	 * @param options how to hold it; the wait has no effect
	 * @param listener notified when this instance begins and ends to lead
	 * @throws IllegalArgumentException if the options have a claim or permits
	 */
	public LeaderTemplate(LockOperations locks, String name, LockOptions options, LeaderListener listener) {
		if (options.claim() != null) {
			throw new IllegalArgumentException("The leader '" + name
					+ "' leads for as long as it can, so its options cannot have a claim, such as a planned time. Remove it");
		}
		if (options.permits() != null) {
			throw new IllegalArgumentException(
					"The leader '" + name + "' leads alone, so its options cannot have permits. Remove them");
		}
		this.locks = locks;
		this.name = name;
		this.options = options.waitUpTo(WAIT);
		this.listener = listener;
	}

	/**
	 * Return whether this instance leads, as far as it knows. Sends no request.
	 * @return whether it holds the lock and does not step down
	 */
	public boolean isLeader() {
		return token().isPresent();
	}

	/**
	 * Return the fencing token of this instance while it leads.
	 * @return the token; empty if it does not lead
	 */
	public synchronized OptionalLong token() {
		return (this.candidate != null) ? this.candidate.token() : OptionalLong.empty();
	}

	/**
	 * Let another instance lead, if one requests the lock within two seconds. Otherwise,
	 * this one leads again. Has no effect if it does not lead.
	 */
	public synchronized void stepDown() {
		if (this.candidate != null) {
			this.candidate.stepDown();
		}
	}

	@Override
	public synchronized void start() {
		if (!this.running) {
			Candidate next = new Candidate(this.candidate);
			next.start();
			this.candidate = next;
			this.running = true;
		}
	}

	/**
	 * Stop leading, and wait until the listener has returned and the lock is released,
	 * unless a listener calls this method.
	 */
	@Override
	public void stop() {
		Candidate stopped = end();
		if (stopped != null && !(Thread.currentThread() instanceof Candidate)) {
			stopped.ended.join();
		}
	}

	@Override
	public void stop(Runnable callback) {
		Candidate stopped = end();
		if (stopped != null) {
			CompletableFuture<Void> unused = stopped.ended.thenRun(callback);
		}
		else {
			callback.run();
		}
	}

	private synchronized @Nullable Candidate end() {
		this.running = false;
		if (this.candidate != null) {
			this.candidate.end();
		}
		return this.candidate;
	}

	@Override
	public synchronized boolean isRunning() {
		return this.running;
	}

	/**
	 * Stop leading without waiting, since a context can be destroyed that did not stop.
	 */
	@Override
	public void destroy() {
		end();
	}

	/**
	 * Waits for the lock, leads, and begins again, until it is stopped.
	 */
	private final class Candidate extends Thread {

		private final CompletableFuture<Void> ended = new CompletableFuture<>();

		private final CompletableFuture<Void> before;

		private final CountDownLatch stopping = new CountDownLatch(1);

		private boolean waiting;

		private @Nullable LockHandle lock;

		/** Completed when this instance does not lead any more. */
		private CompletableFuture<LossReason> lost = new CompletableFuture<>();

		Candidate(@Nullable Candidate before) {
			super("dblock-leader-" + LeaderTemplate.this.name);
			setDaemon(true);
			this.before = (before != null) ? before.ended : CompletableFuture.completedFuture(null);
		}

		@Override
		public void run() {
			try {
				this.before.join();
				while (!isStopping()) {
					LockHandle lock = acquire();
					if (lock != null) {
						lead(lock);
					}
				}
			}
			finally {
				this.ended.complete(null);
			}
		}

		private @Nullable LockHandle acquire() {
			if (!beginWaiting()) {
				return null;
			}
			try {
				LockHandle lock = LeaderTemplate.this.locks.acquire(LeaderTemplate.this.name,
						LeaderTemplate.this.options);
				if (lock.permit() > 1) {
					lock.close();
					throw new IllegalStateException(
							"The lock has permits, but a leader leads alone. Remove them from dblock.locks");
				}
				return lock;
			}
			catch (LockShutdownException ex) {
				this.stopping.countDown();
			}
			catch (LockUnavailableException | LockInterruptedException ex) {
				logger.debug("The lock of the leader is requested again", ex);
			}
			catch (RuntimeException | Error ex) {
				FailureLog.warn(logger, ex,
						"The lock '{}' could not be requested, so this instance cannot lead. It is requested again in"
								+ " two seconds",
						LeaderTemplate.this.name);
			}
			finally {
				endWaiting();
			}
			pause();
			return null;
		}

		// Only a wait for the lock is interrupted, not the listener
		private synchronized boolean beginWaiting() {
			this.waiting = !isStopping();
			return this.waiting;
		}

		private synchronized void endWaiting() {
			this.waiting = false;
			Thread.interrupted();
		}

		private void lead(LockHandle lock) {
			CompletableFuture<LossReason> lost = new CompletableFuture<>();
			// Before the callback: no loss interrupts this thread
			HeldLock held = HeldLock.of(lock);
			if (held != null) {
				held.detach();
			}
			lock.onLost(lost::complete);
			try {
				if (begin(lock, lost) && notified(() -> LeaderTemplate.this.listener.gained(lock.token()))) {
					notified(() -> LeaderTemplate.this.listener.lost(lost.join()));
				}
			}
			finally {
				// Others first, unless the lease was lost
				if (released(lock)) {
					pause();
				}
			}
		}

		private synchronized boolean begin(LockHandle lock, CompletableFuture<LossReason> lost) {
			this.lock = lock;
			this.lost = lost;
			return !isStopping() && lock.isHeld();
		}

		private static boolean released(LockHandle lock) {
			try {
				lock.close();
				return true;
			}
			catch (LockLostException ex) {
				logger.debug("The lock of the leader is lost already", ex);
				return false;
			}
		}

		// An error as well, since no instance would lead while this instance keeps the
		// lock
		private boolean notified(Runnable news) {
			try {
				news.run();
				return true;
			}
			catch (Throwable ex) {
				logger.error("The listener of the leader '{}' failed, so this instance does not lead",
						LeaderTemplate.this.name, ex);
				return false;
			}
		}

		private void pause() {
			try {
				this.stopping.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				// Not interrupted by this class: the next request follows at once
			}
		}

		private boolean isStopping() {
			return this.stopping.getCount() == 0;
		}

		synchronized OptionalLong token() {
			return (this.lock != null && this.lock.isHeld() && !this.lost.isDone()) ? OptionalLong.of(this.lock.token())
					: OptionalLong.empty();
		}

		synchronized void stepDown() {
			// The callback of a loss can be late
			boolean held = this.lock == null || this.lock.isHeld();
			this.lost.complete(held ? LossReason.RELEASED : LossReason.EXPIRED);
		}

		synchronized void end() {
			this.stopping.countDown();
			if (this.waiting) {
				interrupt();
			}
			stepDown();
		}

	}

}
