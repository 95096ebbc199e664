package dev.dblock.interceptor;

import java.util.Optional;

import dev.dblock.LockOptions;
import dev.dblock.WhenUnavailable;
import org.jspecify.annotations.Nullable;

/**
 * A declaration that was checked and made ready for calls.
 *
 * @param method the locked method
 * @param name the name of its lock
 * @param options how the lock is acquired and held; what is left out is the engine's
 * @param skips whether the method is skipped while the lock is not available
 * @param skipped what a skipped method returns
 */
record LockOperation(LockedMethod method, LockName name, LockOptions options, boolean skips, @Nullable Object skipped) {

	/**
	 * Whether the method is skipped in a call. One that returns a primitive never is, as
	 * nobody could tell that it was.
	 * @param set what is set for the name of that call, if anything
	 */
	boolean skips(Optional<WhenUnavailable> set) {
		Class<?> returned = this.method.method().getReturnType();
		return set
			.map((wanted) -> LockOperationParser.skips(wanted, this.method)
					&& (!returned.isPrimitive() || returned == void.class))
			.orElse(this.skips);
	}

}
