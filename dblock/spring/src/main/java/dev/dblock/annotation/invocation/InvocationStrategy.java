package dev.dblock.annotation.invocation;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * Determines the time span in which a method's lock is held, according to its return
 * type. Selected once for each method.
 */
interface InvocationStrategy {

	/**
	 * Invoke the method under its lock.
	 */
	@Nullable Object invoke(LockedOperation operation, MethodInvocation invocation) throws Throwable;

	/**
	 * Proceed to the method with a clone of an invocation, since the interceptors inside
	 * of this one keep the progress of an invocation as state. So it can be done several
	 * times. The clone is exposed to advice that obtains the invocation from the thread.
	 */
	static @Nullable Object proceed(MethodInvocation invocation, @Nullable Object[] arguments) throws Throwable {
		MethodInvocation call = (invocation instanceof ProxyMethodInvocation proxied)
				? proxied.invocableClone(arguments) : invocation;
		return ExposeInvocationInterceptor.INSTANCE.invoke(call);
	}

	/**
	 * Return the result of a method that was skipped.
	 */
	@Nullable Object skipped();

	/**
	 * Return the reason why a method cannot be skipped, with an alternative.
	 * @return the reason, or {@code null} if it can be skipped
	 */
	default @Nullable String skipUnsupportedReason() {
		return null;
	}

}
