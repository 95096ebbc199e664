package dev.dblock.annotation.invocation;

import java.util.function.Supplier;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

/**
 * Observes a call of a locked method that a {@link CallSource} makes, such as a
 * scheduler. It can add to the options of the lock, and can decide that a call without
 * the lock is skipped.
 */
public interface CallObserver {

	/**
	 * Return the observer of an invocation.
	 * @param invocation the invocation
	 * @return the observer, or {@code null} if other code makes the call
	 */
	static @Nullable CallObserver of(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getUserAttribute(CallCarrier.CALL) instanceof CallObserver observer) ? observer : null;
	}

	/**
	 * Return the name of a lock.
	 * @param lock the declaration of the lock
	 * @param name evaluates the name
	 * @return the name to request, which can be that of an earlier request
	 */
	String name(Object lock, Supplier<String> name);

	/**
	 * Return the options with which a lock is requested.
	 * @param declared the declared options
	 * @param fullName the full name of the lock; {@code null} if it is the same for all
	 * calls
	 * @return the options
	 */
	LockOptions options(LockOptions declared, @Nullable String fullName);

	/**
	 * Report that the lock was granted.
	 * @param handle the lock; {@code null} if the thread has no lock
	 */
	void granted(@Nullable LockHandle handle);

	/**
	 * Report that the work under the lock has ended without an exception.
	 * @param handle the lock, not yet released
	 */
	void ended(LockHandle handle);

	/**
	 * Report that the lock was refused.
	 * @param refusal the refusal
	 * @return whether the call is skipped, whatever the declaration says
	 */
	boolean refused(LockRefusal refusal);

	/**
	 * Report that the method is called without its lock, whose condition is false.
	 */
	void unlocked();

	/**
	 * Report that the request for the lock failed.
	 * @param failure why
	 * @return whether the call is skipped, since the source repeats it
	 */
	boolean failed(RuntimeException failure);

}
