package dev.dblock.support;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Interrupts that notify owners of their losses. A thread has one interrupt flag for all
 * leases that it works under, so an interrupt that concerns several owners is taken back
 * after the last of them.
 */
public final class LossInterrupts {

	/** Weak, since the work of a handle that was abandoned never finishes. */
	private static final Map<Thread, Set<Object>> SENT = new WeakHashMap<>();

	/** The number of pieces of work for which a thread has put its interrupt aside. */
	private static final Map<Thread, Integer> ASIDE = new HashMap<>();

	private LossInterrupts() {
	}

	/**
	 * Interrupt a thread. An interrupt that other code sent before is not taken over.
	 * @param thread the thread
	 * @param owner the owner that the interrupt notifies of its loss
	 */
	public static void send(Thread thread, Object owner) {
		synchronized (SENT) {
			if (!thread.isInterrupted() && !ASIDE.containsKey(thread)) {
				// The flag was cleared, so earlier owners have seen their interrupt
				SENT.put(thread, only(owner));
			}
			else {
				Set<Object> owners = SENT.get(thread);
				if (owners != null && !owners.isEmpty()) {
					owners.add(owner);
				}
			}
			thread.interrupt();
		}
	}

	private static Set<Object> only(Object owner) {
		Set<Object> owners = Collections.newSetFromMap(new WeakHashMap<>());
		owners.add(owner);
		return owners;
	}

	/**
	 * Take back the interrupt of an owner that has finished. An interrupt that its thread
	 * has not seen, or has put aside, must not reach the next work of the thread. If the
	 * interrupt also concerns other owners, the thread is interrupted again, since the
	 * finished work may have been the only one to see it.
	 * @param thread the thread that was interrupted
	 * @param owner the owner that has finished
	 */
	public static void takeBack(Thread thread, Object owner) {
		synchronized (SENT) {
			Set<Object> owners = SENT.get(thread);
			if (owners == null || !owners.remove(owner)) {
				return;
			}
			boolean last = owners.isEmpty();
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
	 * Put the current thread's interrupt aside for work that must be done whether or not
	 * the thread is interrupted.
	 * @return restores the interrupt
	 */
	public static Aside putAside() {
		Aside aside = new Aside();
		aside.take();
		return aside;
	}

	/**
	 * An interrupt that was put aside. The thread has not seen it yet, but still counts
	 * as interrupted: an interrupt that is sent meanwhile is not the first.
	 */
	public static final class Aside implements AutoCloseable {

		private final Thread thread = Thread.currentThread();

		private boolean interrupted;

		private Aside() {
		}

		/**
		 * Also put aside an interrupt that has arrived in the meantime.
		 */
		public void take() {
			// The usual case, in which releases need not wait for each other here
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
		 * Also put aside an interrupt that an exception reported, which cleared the flag.
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
