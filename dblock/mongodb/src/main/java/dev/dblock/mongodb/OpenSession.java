package dev.dblock.mongodb;

import java.lang.ref.WeakReference;

import com.mongodb.client.ClientSession;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the session of the last fence that a thread has written into a transaction that
 * the application manages.
 */
final class OpenSession {

	private static final ThreadLocal<@Nullable WeakReference<ClientSession>> LAST = new ThreadLocal<>();

	private OpenSession() {
	}

	/**
	 * Record that the calling thread has written a fence into the transaction of a
	 * session.
	 */
	static void fenced(ClientSession session) {
		LAST.set(new WeakReference<>(session));
	}

	/**
	 * Return whether a transaction of the calling thread has written a fence and is still
	 * open. A request that waits for that transaction must not be made in this thread.
	 */
	static boolean isOpenHere() {
		WeakReference<ClientSession> last = LAST.get();
		ClientSession session = (last != null) ? last.get() : null;
		return session != null && session.hasActiveTransaction();
	}

}
