package dev.dblock.annotation.invocation;

import java.util.List;
import java.util.Optional;

import dev.dblock.LockEngine;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.name.LockedMethod;
import org.jspecify.annotations.Nullable;

/**
 * A declaration that was checked and made ready for calls.
 *
 * @param method the locked method
 * @param locks its locks, at least one; a call may need some of them or none
 * @param span how long the locks live
 * @param declared what is answered while one of the locks is not available, unless
 * something else is set for its name
 * @param engine the engine of the locks; {@code null} where none is known
 * @param skippedByDefault whether it is skipped only because a scheduler calls it
 */
public record LockedOperation(LockedMethod method, List<MethodLock> locks, InvocationStrategy span,
		UnavailableHandler declared, @Nullable LockEngine engine, boolean skippedByDefault) {

	/**
	 * What is answered while one of the locks is not available. What is set for its name
	 * comes before what is declared. A method that could not be told from one that ran is
	 * never skipped. What is skipped by default because a scheduler calls it, is not when
	 * other code does.
	 * @param byOtherCode whether other code calls a job
	 */
	UnavailableHandler unavailable(Optional<WhenUnavailable> set, boolean byOtherCode) {
		if (byOtherCode && this.skippedByDefault && set.orElse(WhenUnavailable.DEFAULT) == WhenUnavailable.DEFAULT) {
			return UnavailableHandler.THROW;
		}
		if (set.isEmpty()) {
			return this.declared;
		}
		boolean skipped = LockedOperationParser.skips(set.get(), this.method) && this.span.obstacleToSkip() == null;
		return skipped ? new UnavailableHandler.Skip(this.method, this.span) : UnavailableHandler.THROW;
	}

}
