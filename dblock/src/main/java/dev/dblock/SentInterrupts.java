package dev.dblock;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The interrupts that tell owners of their losses. A thread has one flag for all leases
 * that it works under, so an interrupt that was meant for several is taken back after the
 * last of them. Not for applications.
 */
public final class SentInterrupts {

	/** Weak, since the work of a handle that was forgotten never finishes. */
	private static final Map<Thread, Set<Object>> SENT = new WeakHashMap<>();

	/** For how many pieces of work a thread has put its flag aside that was set. */
	private static final Map<Thread, Integer> ASIDE = new HashMap<>();

	private SentInterrupts() {
	}

	/**
	 * Interrupt a thread. An interrupt that somebody else had sent before stays theirs.
	 * @param thread the thread
	 * @param owner whom the interrupt tells of its loss
	 */
	public static void send(Thread thread, Object owner) {
		synchronized (SENT) {
			if (!thread.isInterrupted() && !ASIDE.containsKey(thread)) {
				// Whoever was told before has seen it
				SENT.put(thread, only(owner));
			}
			else {
				Set<Object> told = SENT.get(thread);
				if (told != null && !told.isEmpty()) {
					told.add(owner);
				}
			}
			thread.interrupt();
		}
	}

	private static Set<Object> only(Object owner) {
		Set<Object> told = Collections.newSetFromMap(new WeakHashMap<>());
		told.add(owner);
		return told;
	}

	/**
	 * An owner has finished. An interrupt that its thread did not see, or has put aside,
	 * must not reach what the thread does next, except for work that it was meant for as
	 * well: that is told again, since the finished work may have been the only one to see
	 * it.
	 * @param thread the thread that was interrupted
	 * @param owner who has finished
	 */
	public static void takeBack(Thread thread, Object owner) {
		synchronized (SENT) {
			Set<Object> told = SENT.get(thread);
			if (told == null || !told.remove(owner)) {
				return;
			}
			boolean last = told.isEmpty();
			if (last) {
				SENT.remove(thread);
			}
			if (thread == Thread.currentThread()) {
				if (last) {
					Thread.interrupted();
					ASIDE.remove(thread);
				}
				else {
					thread.interrupt();
				}
			}
		}
	}

	/**
	 * Put the current thread's interrupt aside for something that must be done whether or
	 * not it is interrupted.
	 * @return gives it back
	 */
	public static Aside putAside() {
		Aside aside = new Aside();
		aside.take();
		return aside;
	}

	/**
	 * An interrupt that a thread has not seen yet, and has all the same: whoever sends
	 * one meanwhile is not the first.
	 */
	public static final class Aside implements AutoCloseable {

		private final Thread thread = Thread.currentThread();

		private boolean interrupted;

		private Aside() {
		}

		/**
		 * Put aside what has come in the meantime, too.
		 */
		public void take() {
			// As good as always, so that releases need not wait for each other here
			if (!this.thread.isInterrupted()) {
				return;
			}
			synchronized (SENT) {
				if (Thread.interrupted() && !this.interrupted) {
					this.interrupted = true;
					ASIDE.merge(this.thread, 1, Integer::sum);
				}
			}
		}

		/**
		 * Put aside what an exception has told, too, which took the flag away.
		 */
		public void takeSeen() {
			synchronized (SENT) {
				this.thread.interrupt();
				take();
			}
		}

		@Override
		public void close() {
			if (!this.interrupted) {
				return;
			}
			this.interrupted = false;
			synchronized (SENT) {
				if (ASIDE.containsKey(this.thread)) {
					ASIDE.computeIfPresent(this.thread, (thread, times) -> (times > 1) ? times - 1 : null);
					this.thread.interrupt();
				}
			}
		}

	}

}
