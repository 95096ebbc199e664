package dev.dblock.shedlock;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.annotation.invocation.CallObserver;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.Hold;
import dev.dblock.execution.WorkScope;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * One call of a method with {@link SchedulerLock @SchedulerLock}. ShedLock's advice calls
 * the provider with nothing but a name, so the call is bound to the thread on the way to
 * the provider.
 */
final class SchedulerLockCall {

	/** Runs outside of ShedLock's advice. */
	static final MethodInterceptor BINDING = SchedulerLockCall::bind;

	/** Runs inside of ShedLock's advice, around the method. */
	static final MethodInterceptor WORKING = SchedulerLockCall::work;

	private static final String CALL = SchedulerLockCall.class.getName();

	private static final ThreadLocal<@Nullable SchedulerLockCall> BOUND = new ThreadLocal<>();

	private final MethodInvocation invocation;

	private final @Nullable CallObserver observer;

	private @Nullable Hold hold;

	private SchedulerLockCall(MethodInvocation invocation, @Nullable CallObserver observer) {
		this.invocation = invocation;
		this.observer = observer;
	}

	private static @Nullable Object bind(MethodInvocation invocation) throws Throwable {
		SchedulerLockCall call = new SchedulerLockCall(invocation, CallObserver.of(invocation));
		((ProxyMethodInvocation) invocation).setUserAttribute(CALL, call);
		SchedulerLockCall outer = BOUND.get();
		BOUND.set(call);
		try {
			return invocation.proceed();
		}
		finally {
			restore(outer);
		}
	}

	private static void restore(@Nullable SchedulerLockCall call) {
		if (call != null) {
			BOUND.set(call);
		}
		else {
			BOUND.remove();
		}
	}

	private static @Nullable Object work(MethodInvocation invocation) throws Throwable {
		SchedulerLockCall call = (SchedulerLockCall) ((ProxyMethodInvocation) invocation).getUserAttribute(CALL);
		// Still bound if the thread works under the lock already, or another provider is
		// used
		BOUND.remove();
		return (call != null) ? call.proceed(invocation) : invocation.proceed();
	}

	private @Nullable Object proceed(MethodInvocation invocation) throws Throwable {
		Hold held = this.hold;
		if (held == null) {
			if (this.observer != null) {
				this.observer.unlocked();
			}
			return invocation.proceed();
		}
		try (WorkScope scope = WorkScope.enter(held)) {
			Object result = invocation.proceed();
			if (this.observer != null) {
				this.observer.ended(held.handle());
			}
			return result;
		}
		catch (Throwable ex) {
			held.handle().runFailed(ex);
			throw ex;
		}
	}

	/**
	 * Take the call that the current thread is making.
	 * @return the call, or {@code null} if the provider is called by other code
	 */
	static @Nullable SchedulerLockCall take() {
		SchedulerLockCall call = BOUND.get();
		BOUND.remove();
		return call;
	}

	/**
	 * Complete the options with what the method says.
	 * @param name the name of the lock
	 */
	LockOptions complete(LockOptions options, String name) {
		LockOptions completed = options.why(place()).label(label(name));
		return (this.observer != null) ? this.observer.options(completed, null) : completed;
	}

	private String place() {
		Object target = this.invocation.getThis();
		Class<?> type = (target != null) ? AopUtils.getTargetClass(target)
				: this.invocation.getMethod().getDeclaringClass();
		return new LockedMethod(this.invocation.getMethod(), type).path();
	}

	/**
	 * Return the name as declared if it depends on arguments, which have no place in
	 * metrics.
	 */
	private String label(String name) {
		if (this.invocation.getArguments().length == 0) {
			return name;
		}
		SchedulerLock lock = AnnotatedElementUtils.findMergedAnnotation(this.invocation.getMethod(),
				SchedulerLock.class);
		return (lock != null) ? lock.name() : name;
	}

	void granted(LockEngine engine, LockHandle handle) {
		this.hold = Hold.borrowed(engine, handle);
		if (this.observer != null) {
			this.observer.granted(handle);
		}
	}

	void refused(LockRefusal refusal) {
		if (this.observer != null) {
			this.observer.refused(refusal);
		}
	}

	/**
	 * Report that the request for the lock failed.
	 * @return whether the scheduler repeats the call
	 */
	boolean failed(RuntimeException failure) {
		return this.observer != null && this.observer.failed(failure);
	}

}
