package dev.dblock.interceptor;

import java.util.List;
import java.util.Optional;

import dev.dblock.WhenUnavailable;
import dev.dblock.job.schedule.ScheduledCall;
import org.jspecify.annotations.Nullable;

/**
 * A declaration that was checked and made ready for calls.
 *
 * @param method the locked method
 * @param locks its locks, at least one; a call may need some of them or none
 * @param span how long the locks live
 * @param declared what is answered while one of the locks is not available, unless
 * something else is set for its name
 * @param job what the method is when a scheduler calls it; {@code null} if planned times
 * are not captured
 */
record LockOperation(LockedMethod method, List<MethodLock> locks, LockSpan span, WhenRefused declared,
		@Nullable JobTerms job) {

	/**
	 * What is answered while one of the locks is not available. What is set for its name
	 * comes before what is declared. A method that could not be told from one that ran is
	 * never skipped. What is skipped by default because a scheduler calls it, is not when
	 * other code does.
	 * @param call the scheduler's call; {@code null} for one of other code
	 */
	WhenRefused unavailable(Optional<WhenUnavailable> set, @Nullable ScheduledCall call) {
		if (this.job != null && call == null && this.job.skippedByDefault()
				&& set.orElse(WhenUnavailable.DEFAULT) == WhenUnavailable.DEFAULT) {
			return WhenRefused.THROW;
		}
		if (set.isEmpty()) {
			return this.declared;
		}
		boolean skipped = LockOperationParser.skips(set.get(), this.method) && this.span.obstacleToSkip() == null;
		return skipped ? new WhenRefused.Skip(this.method, this.span) : WhenRefused.THROW;
	}

}
