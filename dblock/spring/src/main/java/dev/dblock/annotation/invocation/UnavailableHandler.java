package dev.dblock.annotation.invocation;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.support.Durations;
import dev.dblock.support.LockMdc;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import org.springframework.util.ClassUtils;

/**
 * Determines the result of a method while its lock is not available.
 */
interface UnavailableHandler {

	/**
	 * Return the result in place of that of the method.
	 */
	@Nullable Object answer(LockRefusal refusal, MethodInvocation invocation) throws Throwable;

	/**
	 * Return the result of a call during the shutdown of the application.
	 */
	default @Nullable Object answer(LockShutdownException shutdown) {
		throw shutdown;
	}

	/**
	 * Return whether a method is skipped while its lock is not available.
	 */
	static boolean skips(WhenUnavailable wanted, LockedMethod method) {
		return (wanted != WhenUnavailable.DEFAULT) ? wanted == WhenUnavailable.SKIP
				: LockAnnotations.isScheduled(method.method());
	}

	/**
	 * Throws an exception.
	 */
	UnavailableHandler THROW = (refusal, invocation) -> {
		throw refusal.toException();
	};

	/**
	 * Has asked the holder to run the method once more.
	 *
	 * @param strategy provides the result of this call
	 */
	record RunAgain(InvocationStrategy strategy) implements UnavailableHandler {

		@Override
		public @Nullable Object answer(LockRefusal refusal, MethodInvocation invocation) {
			return this.strategy.skipped();
		}

	}

	/**
	 * Skips the method.
	 *
	 * @param method the method
	 * @param strategy provides its result
	 */
	record Skip(LockedMethod method, InvocationStrategy strategy) implements UnavailableHandler {

		private static final Logger logger = LoggerFactory.getLogger(UnavailableHandler.class);

		private static final int LONGEST_LINE = 159;

		@Override
		public @Nullable Object answer(LockRefusal refusal, MethodInvocation invocation) {
			log(refusal.isSettled() ? Level.DEBUG : Level.INFO, this.method, refusal);
			return this.strategy.skipped();
		}

		static void log(Level level, LockedMethod method, LockRefusal refusal) {
			if (logger.isEnabledForLevel(level)) {
				LockMdc.log(refusal.name(), null, () -> logger.atLevel(level)
					.log(line(method, " (lock '" + refusal.name() + "')", reason(refusal))));
			}
		}

		private static String reason(LockRefusal refusal) {
			LockInfo holder = refusal.holder();
			String waited = refusal.waited().isZero() ? "" : " (waited " + Durations.readable(refusal.waited()) + ")";
			if (refusal.verdict() != null) {
				return refusal.verdict().describe() + waited;
			}
			String remark = (refusal.remark() != null) ? ". " + refusal.remark() : "";
			if (holder == null) {
				return "not available" + waited + remark;
			}
			String all = (refusal.permits() > 1 && holder.permits() > 0)
					? "all " + refusal.permits() + " permits are in use, one " : "";
			String by = all + (holder.held() ? "held by " : "released by ") + holder.acquirer();
			if (!remark.isEmpty()) {
				return by + waited + remark;
			}
			Instant acquiredAt = holder.acquiredAt();
			String since = (holder.held() && acquiredAt != null)
					? " since " + acquiredAt.truncatedTo(ChronoUnit.SECONDS) : "";
			return "%s%s, for another %s%s".formatted(by, since, Durations.readable(holder.remaining()), waited);
		}

		private static String line(LockedMethod method, String lock, String reason) {
			String line = "Skipped %s#%s%s: %s".formatted(ClassUtils.getShortName(method.userClass()),
					method.method().getName(), lock, reason);
			return (line.length() <= LONGEST_LINE) ? line : line.substring(0, LONGEST_LINE - 1) + "…";
		}

		/**
		 * Skip the method on shutdown as well. For a method that may be skipped, the
		 * shutdown of the application is not an error.
		 */
		@Override
		public @Nullable Object answer(LockShutdownException shutdown) {
			LockMdc.log(shutdown.name(), null,
					() -> logger.atInfo().log(line(this.method, "", "the application is closing")));
			return this.strategy.skipped();
		}

	}

}
