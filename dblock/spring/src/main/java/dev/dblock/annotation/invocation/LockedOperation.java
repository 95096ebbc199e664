package dev.dblock.annotation.invocation;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import dev.dblock.LockOptions;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.name.LockName;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;

/**
 * A lock declaration that is validated and ready for calls.
 *
 * @param method the locked method
 * @param locks its locks, at least one; a call may need some of them or none
 * @param strategy how long the locks are held, and how the method is called
 * @param declared the declared handler for a lock that is not available, unless the
 * settings for its name override it
 * @param engine the engine of the locks; {@code null} if there is none
 * @param skippedByDefault whether the method is skipped only because a scheduler calls it
 */
public record LockedOperation(LockedMethod method, List<MethodLock> locks, InvocationStrategy strategy,
		UnavailableHandler declared, @Nullable LockEngine engine, boolean skippedByDefault) {

	/**
	 * Whether a lock of the method has a condition.
	 * @return whether one has
	 */
	public boolean isConditional() {
		return this.locks.stream().anyMatch((lock) -> lock.condition() != null);
	}

	/**
	 * Return the names of the locks, at least one.
	 */
	public List<LockName> names() {
		return this.locks.stream().map(MethodLock::name).toList();
	}

	/**
	 * Return the options of the first lock, which is the only one of a method that runs
	 * once per planned time.
	 */
	public LockOptions options() {
		return this.locks.get(0).options();
	}

	/**
	 * Return how many permits each lock has whose name is the same for all calls.
	 * @return the number by name; zero for a plain lock
	 */
	public Map<String, Integer> permits() {
		Map<String, Integer> permits = new LinkedHashMap<>();
		for (MethodLock lock : this.locks) {
			if (lock.name() instanceof LockName.Constant constant) {
				permits.putIfAbsent(constant.text(), lock.permits(this.engine));
			}
		}
		return permits;
	}

	/**
	 * Whether the method is declared to run once more if other calls ask for it.
	 */
	public boolean runsAgain() {
		return this.declared instanceof UnavailableHandler.RunAgain;
	}

	/**
	 * Return the handler for a lock that is not available. The settings for the lock's
	 * name override the declaration. A method is never skipped if its caller could not
	 * distinguish that from a result. A method that is skipped by default because a
	 * scheduler calls it is not skipped when other code calls it.
	 * @param set the setting for the lock's name
	 * @param byOtherCode whether other code than its scheduler calls the method
	 */
	UnavailableHandler unavailable(Optional<WhenUnavailable> set, boolean byOtherCode) {
		if (byOtherCode && this.skippedByDefault && set.orElse(WhenUnavailable.DEFAULT) == WhenUnavailable.DEFAULT) {
			return UnavailableHandler.THROW;
		}
		if (set.isEmpty()) {
			return this.declared;
		}
		boolean skipped = UnavailableHandler.skips(set.get(), this.method)
				&& this.strategy.skipUnsupportedReason() == null;
		return skipped ? new UnavailableHandler.Skip(this.method, this.strategy) : UnavailableHandler.THROW;
	}

}
