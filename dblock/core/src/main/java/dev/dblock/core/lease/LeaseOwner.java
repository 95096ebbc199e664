package dev.dblock.core.lease;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import dev.dblock.support.LossInterrupts;

/**
 * The thread that acquired a lock, as long as it works under the lock, and other threads
 * that temporarily do so. Each thread is interrupted at most once, and never after its
 * work. Only an interrupt that was also meant for work under another lock may be sent
 * twice. An interrupt that other code sent earlier is preserved.
 */
public final class LeaseOwner {

	private final Thread thread;

	private volatile List<Thread> others = List.of();

	private volatile boolean left;

	private volatile boolean finished;

	private boolean working = true;

	private boolean notified;

	public LeaseOwner(Thread thread) {
		this.thread = thread;
	}

	/**
	 * Return whether work that the given thread begins now is work under this lock.
	 */
	public boolean isOf(Thread thread) {
		return this.thread == thread && !this.left || this.others.contains(thread);
	}

	/**
	 * Return whether the given thread works under this lock and no other thread does, so
	 * that only the given thread can be expected to release it.
	 */
	public boolean isOnly(Thread thread) {
		return isOf(thread) && (this.thread == thread || this.left)
				&& this.others.stream().allMatch((other) -> other == thread);
	}

	/**
	 * Return whether the work is over, or can still end in another thread than the given
	 * one.
	 */
	public synchronized boolean endsBeside(Thread given) {
		return this.finished
				|| threads().stream().anyMatch((thread) -> thread != given && thread.isAlive() && isAtWork(thread));
	}

	/**
	 * Return the threads that work under the lock, and the thread that acquired it.
	 */
	public Set<Thread> threads() {
		List<Thread> others = this.others;
		if (others.isEmpty()) {
			return Set.of(this.thread);
		}
		Set<Thread> all = new HashSet<>(others);
		all.add(this.thread);
		return all;
	}

	public String threadName() {
		return nameOf(this.thread);
	}

	/**
	 * Return the name of a thread, on one line. Virtual threads have no name by default.
	 */
	public static String nameOf(Thread thread) {
		String name = thread.getName();
		return onOneLine(name.isEmpty() ? "thread-" + thread.getId() : name);
	}

	/**
	 * Replace control characters in text of a caller that is stored and logged, such as a
	 * purpose. A line break in it could forge a line in the log of a caller that is
	 * refused.
	 */
	public static String onOneLine(String text) {
		return text.chars().anyMatch(Character::isISOControl) ? text.replaceAll("\\p{Cc}", " ") : text;
	}

	public synchronized void interrupt() {
		if (this.notified) {
			return;
		}
		this.notified = true;
		Set<Thread> working = new HashSet<>(this.others);
		if (this.working) {
			working.add(this.thread);
		}
		working.forEach(this::interrupt);
	}

	private void interrupt(Thread thread) {
		LossInterrupts.send(thread, this);
	}

	/**
	 * Record that the work is over.
	 */
	public synchronized void finish() {
		this.finished = true;
		if (this.working) {
			this.working = false;
			takeBack(this.thread);
		}
	}

	/**
	 * Return whether the work is over, be it of this thread or of others.
	 */
	public boolean isFinished() {
		return this.finished;
	}

	/**
	 * Add the current thread to those that work under the lock. If the others have
	 * already been interrupted, it is interrupted as well.
	 */
	public synchronized void attach() {
		Thread current = Thread.currentThread();
		boolean late = this.notified && !isAtWork(current);
		List<Thread> others = new ArrayList<>(this.others);
		others.add(current);
		this.others = List.copyOf(others);
		if (late) {
			interrupt(current);
		}
	}

	/**
	 * Remove the current thread from those that work under the lock.
	 */
	public synchronized void detach() {
		Thread current = Thread.currentThread();
		List<Thread> others = new ArrayList<>(this.others);
		if (others.remove(current)) {
			this.others = List.copyOf(others);
		}
		else if (current == this.thread) {
			leave();
		}
		if (!isAtWork(current)) {
			takeBack(current);
		}
	}

	/**
	 * Record that the lock no longer belongs to the thread that acquired it.
	 * @return that thread
	 */
	public synchronized Thread leave() {
		this.left = true;
		this.working = false;
		if (!isAtWork(this.thread)) {
			takeBack(this.thread);
		}
		return this.thread;
	}

	/**
	 * Return whether a thread is interrupted at a loss. The thread that acquired the lock
	 * is not interrupted after it has finished, although a transaction may still keep the
	 * lock for it.
	 */
	private boolean isAtWork(Thread thread) {
		return this.thread == thread && this.working || this.others.contains(thread);
	}

	private void takeBack(Thread thread) {
		if (this.notified) {
			LossInterrupts.takeBack(thread, this);
		}
	}

}
