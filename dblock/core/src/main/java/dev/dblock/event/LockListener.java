package dev.dblock.event;

import java.time.Duration;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.claim.Claim;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * Listener for the locks of this application context. Beans of this type are detected and
 * called in their order, except where each is called in a thread of its own. An exception
 * of a listener is logged and has no other effect.
 */
public interface LockListener {

	/**
	 * Called after a lock was acquired, in the thread that acquired it, before its work
	 * starts.
	 * @param handle the new handle
	 */
	default void onAcquired(LockHandle handle) {
	}

	/**
	 * Called after a request for a lock was refused, in the thread that requested it.
	 * @param refusal the refusal, with the holder of the lock
	 */
	default void onUnavailable(LockRefusal refusal) {
	}

	/**
	 * Called after a lease was renewed when less than a third of it was left: earlier
	 * attempts had failed, or the process was paused. Called in a thread of its own, like
	 * {@link #onLost}.
	 * @param handle the handle that was nearly lost
	 * @param left the rest of the lease at that time
	 */
	default void onRenewedLate(LockHandle handle, Duration left) {
	}

	/**
	 * Called after a lease was lost while its holder still relied on it. Each call has a
	 * thread of its own, so a slow listener delays neither other listeners nor the
	 * reports of other losses. The calls for several locks can overlap, and the call for
	 * a loss can overtake that for an earlier late renewal.
	 * @param handle the handle that was lost
	 * @param reason why it was lost
	 */
	default void onLost(LockHandle handle, LossReason reason) {
	}

	/**
	 * Called after a lock was released by its holder, in the thread that released it.
	 * @param handle the released handle
	 */
	default void onReleased(LockHandle handle) {
	}

	/**
	 * Called with news of a claim, such as the end of a job's run. A {@code JobListener}
	 * implements this method.
	 * @param name the full name of the lock
	 * @param news the news
	 */
	default void onNews(String name, Claim.News news) {
	}

	/**
	 * Create a listener that publishes the events of locks as application events; a
	 * {@code JobListener} publishes those of jobs as well. During shutdown, the events
	 * reach the event listeners that still exist.
	 * @param context the context that publishes the events
	 * @return the listener
	 */
	static LockListener publishingTo(ConfigurableApplicationContext context) {
		return new LockEventPublisher(context);
	}

}
