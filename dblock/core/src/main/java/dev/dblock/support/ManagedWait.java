package dev.dblock.support;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A wait that no interrupt ends, in a thread that may be one of a pool. The pool has
 * another thread meanwhile, since what is awaited may need one.
 */
public final class ManagedWait implements ForkJoinPool.ManagedBlocker {

	private static final Logger logger = LoggerFactory.getLogger(ManagedWait.class);

	private final BooleanSupplier over;

	private final Waiting waiting;

	private final LossInterrupts.Aside interrupt;

	private ManagedWait(BooleanSupplier over, Waiting waiting, LossInterrupts.Aside interrupt) {
		this.over = over;
		this.waiting = waiting;
		this.interrupt = interrupt;
	}

	/**
	 * Wait. Interrupts are put aside meanwhile.
	 * @param over whether the wait is over
	 * @param waiting waits for a limited or an unlimited time, again and again
	 */
	public static void until(BooleanSupplier over, Waiting waiting) {
		try (LossInterrupts.Aside interrupt = LossInterrupts.putAside()) {
			ManagedWait wait = new ManagedWait(over, waiting, interrupt);
			if (isInStoppedPool()) {
				wait.block();
				return;
			}
			try {
				ForkJoinPool.managedBlock(wait);
			}
			catch (InterruptedException | RejectedExecutionException | OutOfMemoryError ex) {
				logger.debug("The pool has no other thread during the wait", ex);
				wait.block();
			}
		}
	}

	/**
	 * Whether this is a thread of a pool that was stopped, which starts no other thread.
	 * On JDK 17, a managed wait would not block there, but occupy a processor. A pool
	 * that is shut down in order still runs what it has, and may need a thread for it.
	 */
	private static boolean isInStoppedPool() {
		return Thread.currentThread() instanceof ForkJoinWorkerThread worker
				&& (worker.getPool().isTerminating() || worker.getPool().isTerminated());
	}

	@Override
	public boolean block() {
		while (!isReleasable()) {
			try {
				this.waiting.await();
			}
			catch (InterruptedException ex) {
				this.interrupt.takeSeen();
			}
		}
		return true;
	}

	@Override
	public boolean isReleasable() {
		return this.over.getAsBoolean();
	}

	/**
	 * Part of a wait.
	 */
	@FunctionalInterface
	public interface Waiting {

		/**
		 * Wait.
		 * @throws InterruptedException if the thread was interrupted
		 */
		void await() throws InterruptedException;

	}

}
