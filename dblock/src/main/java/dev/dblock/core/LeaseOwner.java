package dev.dblock.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import dev.dblock.SentInterrupts;
import dev.dblock.settings.LockNames;

/**
 * The thread that acquired a lock, as long as it works under it, and others that do so
 * for a time. Each is interrupted at most once, and never after its work; only an
 * interrupt that was meant for work under another lock as well may come twice. One that
 * somebody else had sent before ours stays theirs.
 */
final class LeaseOwner {

	private final Thread thread;

	private volatile List<Thread> others = List.of();

	private volatile boolean left;

	private boolean working = true;

	private boolean told;

	LeaseOwner(Thread thread) {
		this.thread = thread;
	}

	/**
	 * Whether what a thread begins now is work under this lock.
	 */
	boolean isOf(Thread thread) {
		return this.thread == thread && !this.left || this.others.contains(thread);
	}

	/**
	 * Those who work under the lock, and who acquired it.
	 */
	Set<Thread> threads() {
		List<Thread> others = this.others;
		if (others.isEmpty()) {
			return Set.of(this.thread);
		}
		Set<Thread> all = new HashSet<>(others);
		all.add(this.thread);
		return all;
	}

	String threadName() {
		return LockNames.onOneLine(nameOf(this.thread));
	}

	/**
	 * Virtual threads have no name unless they are given one.
	 */
	static String nameOf(Thread thread) {
		String name = thread.getName();
		return name.isEmpty() ? "thread-" + thread.getId() : name;
	}

	synchronized void interrupt() {
		if (this.told) {
			return;
		}
		this.told = true;
		Set<Thread> working = new HashSet<>(this.others);
		if (this.working) {
			working.add(this.thread);
		}
		working.forEach(this::interrupt);
	}

	private void interrupt(Thread thread) {
		SentInterrupts.send(thread, this);
	}

	/**
	 * The work is over.
	 */
	synchronized void finish() {
		if (this.working) {
			this.working = false;
			takeBack(this.thread);
		}
	}

	/**
	 * The current thread begins to work under the lock. One that comes after the others
	 * were told is told as well.
	 */
	synchronized void attach() {
		Thread current = Thread.currentThread();
		boolean late = this.told && !isAtWork(current);
		List<Thread> others = new ArrayList<>(this.others);
		others.add(current);
		this.others = List.copyOf(others);
		if (late) {
			interrupt(current);
		}
	}

	/**
	 * The current thread does not work under the lock any more.
	 */
	synchronized void detach() {
		Thread current = Thread.currentThread();
		List<Thread> others = new ArrayList<>(this.others);
		if (others.remove(current)) {
			this.others = List.copyOf(others);
		}
		else if (current == this.thread) {
			this.left = true;
			this.working = false;
		}
		if (!isAtWork(current)) {
			takeBack(current);
		}
	}

	/**
	 * Whether a thread is interrupted at a loss. One that has acquired the lock and has
	 * finished is not, though a transaction may still keep the lock for it.
	 */
	private boolean isAtWork(Thread thread) {
		return this.thread == thread && this.working || this.others.contains(thread);
	}

	private void takeBack(Thread thread) {
		if (this.told) {
			SentInterrupts.takeBack(thread, this);
		}
	}

}
