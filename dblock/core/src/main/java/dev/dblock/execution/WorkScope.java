package dev.dblock.execution;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.engine.LockEngine;
import dev.dblock.support.LockMdc;
import org.jspecify.annotations.Nullable;

/**
 * The part of a thread's work that a lock covers, possibly together with others.
 */
public final class WorkScope implements AutoCloseable {

	private final List<Entry> entries;

	private final LockMdc logged;

	/** What to do when the work leaves the thread, after its locks have left it. */
	private final Runnable leave;

	private WorkScope(List<Entry> entries, LockMdc logged, Runnable leave) {
		this.entries = entries;
		this.logged = logged;
		this.leave = leave;
	}

	/**
	 * Return the hold of the lock with the given name under which this thread works.
	 * @param engine the engine of the lock
	 * @param fullName the full name of the lock
	 * @return the hold, or {@code null} if there is none
	 */
	public static @Nullable Hold find(LockEngine engine, String fullName) {
		Entry found = Entry.find(engine, fullName);
		return (found != null) ? found.hold : null;
	}

	/**
	 * Return whether this thread works under a lock since {@link #attach}. The work that
	 * acquired the lock may then end first.
	 * @param hold the lock
	 * @return whether the innermost work of the thread under this lock is such work
	 */
	static boolean isAttached(Hold hold) {
		return Entry.isAttached(hold);
	}

	/**
	 * Begin work in the current thread under a lock that may have been acquired by
	 * another thread.
	 * @param hold the lock
	 * @return ends the work; to be closed in the same thread
	 */
	public static WorkScope attach(Hold hold) {
		hold.attach();
		return enter(hold, true, hold::detach);
	}

	/**
	 * Begin work in the current thread under a lock that it has acquired.
	 * @param hold the lock
	 * @return ends the work; to be closed in the same thread
	 */
	public static WorkScope enter(Hold hold) {
		return enter(hold, false, () -> {
		});
	}

	private static WorkScope enter(Hold hold, boolean attached, Runnable leave) {
		List<Hold> parts = hold.parts();
		LockMdc logged = LockMdc.enter(joined(parts, LockHandle::name),
				joined(parts, (handle) -> Long.toString(handle.token())));
		List<Entry> entries = new ArrayList<>(parts.size());
		for (Hold part : parts) {
			Entry entry = new Entry(part, attached);
			entry.push();
			entries.add(entry);
		}
		return new WorkScope(entries, logged, leave);
	}

	private static String joined(List<Hold> holds, Function<LockHandle, String> what) {
		return (holds.size() == 1) ? what.apply(holds.get(0).handle())
				: holds.stream().map(Hold::handle).map(what).collect(Collectors.joining(", "));
	}

	@Override
	public void close() {
		this.logged.leave();
		this.entries.forEach(Entry::pop);
		this.leave.run();
	}

	/**
	 * One of the locks.
	 */
	private static final class Entry extends LockContext {

		private final Hold hold;

		private final boolean attached;

		Entry(Hold hold, boolean attached) {
			this.hold = hold;
			this.attached = attached;
		}

		static boolean isAttached(Hold hold) {
			Entry found = find(Entry.class, (entry) -> entry.hold == hold);
			return found != null && found.attached;
		}

		static @Nullable Entry find(LockEngine engine, String fullName) {
			return find(Entry.class,
					(entry) -> entry.hold.engine().id() == engine.id() && entry.hold.handle().name().equals(fullName));
		}

		void push() {
			enter();
		}

		void pop() {
			leave();
		}

		@Override
		protected LockHandle handle() {
			return this.hold.handle();
		}

		@Override
		protected boolean isNamed(String name) {
			return super.isNamed(name) || super.isNamed(this.hold.engine().fullName(name));
		}

	}

}
