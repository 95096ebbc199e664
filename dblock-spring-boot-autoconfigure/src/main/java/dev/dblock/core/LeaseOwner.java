package dev.dblock.core;

/**
 * The thread that acquired a lock, as long as it works under it. It is interrupted at
 * most once, and never after it has given the lock back. An interrupt that somebody else
 * had sent before ours stays theirs.
 */
final class LeaseOwner {

	private final Thread thread;

	private boolean working = true;

	private boolean told;

	private boolean interrupted;

	LeaseOwner(Thread thread) {
		this.thread = thread;
	}

	boolean isOf(Thread thread) {
		return this.thread == thread;
	}

	String threadName() {
		return nameOf(this.thread);
	}

	/**
	 * Virtual threads have no name unless they are given one.
	 */
	static String nameOf(Thread thread) {
		String name = thread.getName();
		return name.isEmpty() ? "thread-" + thread.getId() : name;
	}

	synchronized void interrupt() {
		if (this.working && !this.told) {
			this.told = true;
			this.interrupted = !this.thread.isInterrupted();
			this.thread.interrupt();
		}
	}

	/**
	 * The work is over. An interrupt of ours that it did not see must not reach what the
	 * thread does next.
	 */
	synchronized void finish() {
		if (!this.working) {
			return;
		}
		this.working = false;
		if (this.interrupted && Thread.currentThread() == this.thread) {
			Thread.interrupted();
		}
	}

}
