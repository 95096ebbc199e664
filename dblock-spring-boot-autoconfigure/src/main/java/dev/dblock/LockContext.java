package dev.dblock;

import java.util.Optional;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The locks under which the current thread works: those of {@code execute} and of
 * {@link DistributedLock @DistributedLock}. Handles that were taken by hand are known to
 * those who took them, and are not found here.
 * <p>
 * What such a thread logs has the lock among its fields ({@code MDC}):
 * {@code dblock.name} and {@code dblock.token}.
 */
public final class LockContext {

	private static final ThreadLocal<@Nullable Scope> CURRENT = new ThreadLocal<>();

	private LockContext() {
	}

	/**
	 * The innermost lock under which this thread works.
	 * @return its handle, or empty outside of any lock
	 */
	public static Optional<LockHandle> current() {
		Scope scope = CURRENT.get();
		return (scope != null) ? Optional.of(scope.handle) : Optional.empty();
	}

	/**
	 * The lock of that name under which this thread works.
	 * @param name the full name of the lock, prefix included
	 * @return its handle, or empty when this thread does not work under it
	 */
	public static Optional<LockHandle> current(String name) {
		return find((scope) -> scope.handle.name().equals(name));
	}

	static Optional<LockHandle> current(LockEngine engine, String name) {
		return find((scope) -> scope.engine == engine && scope.handle.name().equals(name));
	}

	private static Optional<LockHandle> find(Predicate<Scope> wanted) {
		for (Scope scope = CURRENT.get(); scope != null; scope = scope.outer) {
			if (wanted.test(scope)) {
				return Optional.of(scope.handle);
			}
		}
		return Optional.empty();
	}

	static Scope enter(LockEngine engine, LockHandle handle) {
		Scope scope = new Scope(engine, handle, CURRENT.get());
		CURRENT.set(scope);
		return scope;
	}

	/**
	 * The stretch of a thread's work that one lock covers.
	 */
	static final class Scope implements AutoCloseable {

		private final LockEngine engine;

		private final LockHandle handle;

		private final @Nullable Scope outer;

		private final LoggedLock logged;

		private Scope(LockEngine engine, LockHandle handle, @Nullable Scope outer) {
			this.engine = engine;
			this.handle = handle;
			this.outer = outer;
			this.logged = LoggedLock.enter(handle);
		}

		@Override
		public void close() {
			this.logged.leave();
			if (this.outer != null) {
				CURRENT.set(this.outer);
			}
			else {
				CURRENT.remove();
			}
		}

	}

}
