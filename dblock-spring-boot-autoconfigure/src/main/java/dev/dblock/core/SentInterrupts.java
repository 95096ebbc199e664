package dev.dblock.core;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The interrupts that tell owners of their losses. A thread has one flag for all leases
 * that it works under, so an interrupt that was meant for several is taken back after the
 * last of them.
 */
final class SentInterrupts {

	/** Weak, since the work of a handle that was forgotten never finishes. */
	private static final Map<Thread, Set<LeaseOwner>> SENT = new WeakHashMap<>();

	private SentInterrupts() {
	}

	/**
	 * Interrupt a thread. An interrupt that somebody else had sent before stays theirs.
	 */
	static void send(Thread thread, LeaseOwner owner) {
		synchronized (SENT) {
			if (!thread.isInterrupted()) {
				// Whoever was told before has seen it
				SENT.put(thread, only(owner));
			}
			else {
				Set<LeaseOwner> told = SENT.get(thread);
				if (told != null && !told.isEmpty()) {
					told.add(owner);
				}
			}
			thread.interrupt();
		}
	}

	private static Set<LeaseOwner> only(LeaseOwner owner) {
		Set<LeaseOwner> told = Collections.newSetFromMap(new WeakHashMap<>());
		told.add(owner);
		return told;
	}

	/**
	 * An owner has finished. An interrupt that its thread did not see must not reach what
	 * the thread does next, except for work that it was meant for as well: that is told
	 * again, since the finished work may have been the only one to see it.
	 */
	static void takeBack(Thread thread, LeaseOwner owner) {
		synchronized (SENT) {
			Set<LeaseOwner> told = SENT.get(thread);
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
				}
				else {
					thread.interrupt();
				}
			}
		}
	}

}
