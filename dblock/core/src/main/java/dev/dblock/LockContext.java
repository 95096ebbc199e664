package dev.dblock;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The locks under which the current thread works: those of {@code execute} and of
 * {@link DistributedLock @DistributedLock}. Handles that were acquired by hand are not
 * found here; the caller has to keep a reference to them.
 * <p>
 * Log messages of such a thread have the lock in the {@code MDC}, in the fields
 * {@code dblock.name} and {@code dblock.token}.
 */
public abstract class LockContext {

	/** The innermost first. */
	private static final ThreadLocal<@Nullable Deque<LockContext>> ENTRIES = new ThreadLocal<>();

	protected LockContext() {
	}

	/**
	 * Return the innermost lock under which this thread works.
	 * @return its handle, or empty outside of any lock
	 */
	public static Optional<LockHandle> current() {
		return handle(LockContext::isWork);
	}

	/**
	 * Return the innermost lock under which this thread works and whose handle matches.
	 * @param wanted the condition
	 * @return its handle, or empty if this thread does not work under such a lock
	 */
	public static Optional<LockHandle> current(Predicate<LockHandle> wanted) {
		return handle((entry) -> entry.isWork() && entry.holds(wanted));
	}

	/**
	 * Return the innermost lock with the given name under which this thread works,
	 * including a lock that it has locked through {@link LockOperations#asLock}.
	 * @param name the full name of the lock, including the prefix
	 * @return its handle, or empty if this thread does not work under it
	 */
	public static Optional<LockHandle> current(String name) {
		return handle((entry) -> entry.holds((handle) -> handle.name().equals(name)));
	}

	/**
	 * Return the lock under which this thread works and that has this name, with or
	 * without the prefix of its engine.
	 */
	static Optional<LockHandle> named(String name) {
		return handle((entry) -> entry.isWork() && entry.isNamed(name));
	}

	private static Optional<LockHandle> handle(Predicate<LockContext> wanted) {
		return Optional.ofNullable(find(LockContext.class, wanted)).map(LockContext::handle);
	}

	private boolean holds(Predicate<LockHandle> wanted) {
		LockHandle handle = handle();
		return handle != null && wanted.test(handle);
	}

	/**
	 * Return the innermost entry of this thread that is of a type and matches.
	 * @param type the type of the entry
	 * @param wanted the condition
	 * @param <T> the type of the entry
	 * @return the entry, or {@code null} if there is none
	 */
	protected static <T extends LockContext> @Nullable T find(Class<T> type, Predicate<? super T> wanted) {
		Deque<LockContext> entries = ENTRIES.get();
		if (entries != null) {
			for (LockContext entry : entries) {
				if (type.isInstance(entry) && wanted.test(type.cast(entry))) {
					return type.cast(entry);
				}
			}
		}
		return null;
	}

	/**
	 * Add this entry to the current thread, as the innermost one.
	 */
	protected final void enter() {
		Deque<LockContext> entries = ENTRIES.get();
		if (entries == null) {
			entries = new ArrayDeque<>(4);
			ENTRIES.set(entries);
		}
		entries.push(this);
	}

	/**
	 * Remove this entry from the current thread. Has no effect if it was removed before.
	 */
	protected final void leave() {
		Deque<LockContext> entries = ENTRIES.get();
		if (entries != null && entries.remove(this) && entries.isEmpty()) {
			ENTRIES.remove();
		}
	}

	/**
	 * Return the lock of this entry.
	 * @return its handle, or {@code null} if it is no longer held through this entry
	 */
	protected abstract @Nullable LockHandle handle();

	/**
	 * Whether this entry is for work, and not for a lock that the thread has locked
	 * through {@link LockOperations#asLock}.
	 * @return whether it is for work
	 */
	protected boolean isWork() {
		return true;
	}

	/**
	 * Whether the lock of work has the given name.
	 * @param name the name, with or without the prefix of its engine
	 * @return whether it has this name
	 */
	protected boolean isNamed(String name) {
		return holds((handle) -> handle.name().equals(name));
	}

}
