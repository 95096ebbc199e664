package dev.dblock.annotation.invocation;

import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.support.LockMdc;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

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
	 * Throws an exception.
	 */
	UnavailableHandler THROW = (refusal, invocation) -> {
		throw refusal.toException();
	};

	/**
	 * Skips the method.
	 *
	 * @param method the method
	 * @param span provides its result
	 */
	record Skip(LockedMethod method, InvocationStrategy span) implements UnavailableHandler {

		private static final Logger logger = LoggerFactory.getLogger(LockInterceptor.class);

		@Override
		public @Nullable Object answer(LockRefusal refusal, MethodInvocation invocation) {
			log(refusal.isSettled() ? Level.DEBUG : Level.INFO, this.method, refusal);
			return this.span.skipped();
		}

		static void log(Level level, LockedMethod method, LockRefusal refusal) {
			if (logger.isEnabledForLevel(level)) {
				LockMdc.log(refusal.name(), null,
						() -> logger.atLevel(level).log("Skipped {}: {}", method.path(), refusal.describe()));
			}
		}

		/**
		 * Skip the method on shutdown as well. For a method that may be skipped, the
		 * shutdown of the application is not an error.
		 */
		@Override
		public @Nullable Object answer(LockShutdownException shutdown) {
			LockMdc.log(shutdown.name(), null,
					() -> logger.info("Skipped {}: {}", this.method.path(), shutdown.getMessage()));
			return this.span.skipped();
		}

	}

}
