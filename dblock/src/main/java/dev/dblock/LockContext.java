package dev.dblock;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

import dev.dblock.job.JobRun;
import org.jspecify.annotations.Nullable;

/**
 * The locks under which the current thread works: those of {@code execute} and of
 * {@link DistributedLock @DistributedLock}. Handles that were acquired by hand are not
 * found here; the caller has to keep a reference to them.
 * <p>
 * Log messages of such a thread have the lock in the {@code MDC}, in the fields
 * {@code dblock.name} and {@code dblock.token}.
 */
public final class LockContext {

	private static final ThreadLocal<@Nullable Scope> CURRENT = new ThreadLocal<>();

	private LockContext() {
	}

	/**
	 * Return the innermost lock under which this thread works.
	 * @return its handle, or empty outside of any lock
	 */
	public static Optional<LockHandle> current() {
		Scope scope = CURRENT.get();
		return (scope != null) ? Optional.of(scope.hold.handle()) : Optional.empty();
	}

	/**
	 * Return the run of a job that this thread works for.
	 * @return the run of the innermost lock that was granted for a planned time, or empty
	 * outside of any
	 */
	public static Optional<JobRun> run() {
		Hold hold = find((candidate) -> candidate.handle().run().isPresent());
		return (hold != null) ? hold.handle().run() : Optional.empty();
	}

	/**
	 * Return the lock with the given name under which this thread works, including a lock
	 * that it has locked through {@link LockOperations#asLock}.
	 * @param name the full name of the lock, including the prefix
	 * @return its handle, or empty if this thread does not work under it
	 */
	public static Optional<LockHandle> current(String name) {
		Hold hold = find((candidate) -> candidate.handle().name().equals(name));
		return Optional.ofNullable((hold != null) ? hold.handle() : ThreadHold.handle(name));
	}

	/**
	 * Return the lock under which this thread works and that has this name, with or
	 * without the prefix of its engine.
	 */
	static Optional<LockHandle> named(String name) {
		Hold hold = find((candidate) -> candidate.handle().name().equals(name)
				|| candidate.handle().name().equals(candidate.engine().fullName(name)));
		return (hold != null) ? Optional.of(hold.handle()) : Optional.empty();
	}

	static @Nullable Hold find(LockEngine engine, String name) {
		return find((hold) -> hold.engine() == engine && hold.handle().name().equals(name));
	}

	private static @Nullable Hold find(Predicate<Hold> wanted) {
		for (Scope scope = CURRENT.get(); scope != null; scope = scope.outer) {
			if (wanted.test(scope.hold)) {
				return scope.hold;
			}
		}
		return null;
	}

	static Scope enter(Hold hold) {
		Scope before = CURRENT.get();
		LoggedLock logged = LoggedLock.enter(hold.parts());
		Scope scope = before;
		for (Hold part : hold.parts()) {
			scope = new Scope(part, scope, before, logged);
		}
		CURRENT.set(scope);
		return Objects.requireNonNull(scope);
	}

	/**
	 * The part of a thread's work that one lock covers, possibly together with others.
	 */
	static final class Scope implements AutoCloseable {

		private final Hold hold;

		private final @Nullable Scope outer;

		private final @Nullable Scope before;

		private final LoggedLock logged;

		private Scope(Hold hold, @Nullable Scope outer, @Nullable Scope before, LoggedLock logged) {
			this.hold = hold;
			this.outer = outer;
			this.before = before;
			this.logged = logged;
		}

		@Override
		public void close() {
			this.logged.leave();
			if (this.before != null) {
				CURRENT.set(this.before);
			}
			else {
				CURRENT.remove();
			}
		}

	}

}
