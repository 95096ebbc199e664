package dev.dblock.core.queue;

import dev.dblock.core.lease.LeasedLock;
import dev.dblock.core.queue.PollPause.WaitCause;
import org.jspecify.annotations.Nullable;

/**
 * What a waiting thread does next, as its {@link LocalQueue} decides.
 */
public sealed interface Turn {

	/**
	 * Take the lock, which was handed over to the thread.
	 *
	 * @param handle the handle of the lock
	 */
	record Take(LeasedLock handle) implements Turn {
	}

	/**
	 * Request the lock from the store. The queue considers the request as in progress.
	 *
	 * @param cause the cause of the request
	 */
	record Ask(WaitCause cause) implements Turn {
	}

	/**
	 * Park, unless woken before.
	 *
	 * @param nanos the longest pause
	 * @param until what the thread waits for
	 */
	record Park(long nanos, Awaited until) implements Turn {
	}

	/**
	 * Give up. The thread has no place in the queue any more.
	 *
	 * @param known the holder, or why the request to the store failed; {@code null} if
	 * neither is known
	 */
	record GiveUp(Outcome.@Nullable Unavailable known) implements Turn {
	}

	/**
	 * What a thread waits for.
	 */
	enum Awaited {

		/** Other threads of this process go first, or the process holds the lock. */
		THIS_PROCESS,

		/** The lock is held elsewhere, or other processes go first. */
		OTHER_PROCESSES,

		/** The time of the thread is over, and an answer is pending. */
		ANSWER

	}

}
