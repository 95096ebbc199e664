package dev.dblock.interceptor;

import dev.dblock.LockOptions;
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
}
