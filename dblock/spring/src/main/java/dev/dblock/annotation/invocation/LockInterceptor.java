package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;

/**
 * Runs a method under its lock.
 */
final class LockInterceptor implements MethodInterceptor {

	private final LockedOperationSource source;

	LockInterceptor(LockedOperationSource source) {
		this.source = source;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockedOperation operation = operation(invocation.getMethod(), invocation.getThis()).orElse(null);
		if (operation == null) {
			return invocation.proceed();
		}
		UnobservedCalls.report(invocation);
		return operation.strategy().invoke(operation, invocation);
	}

	private Optional<LockedOperation> operation(Method method, @Nullable Object target) {
		if (target == null) {
			return this.source.operation(method, null);
		}
		Class<?> targetClass = AopUtils.getTargetClass(target);
		return Proxy.isProxyClass(target.getClass()) ? behindProxy(method, target.getClass(), targetClass)
				: this.source.operation(method, targetClass);
	}

	/**
	 * Find the operation of a call through another proxy. An implementation takes
	 * precedence over the interfaces of the proxy in front of it, but the target of a
	 * repository's proxy does not implement them.
	 */
	private Optional<LockedOperation> behindProxy(Method method, Class<?> proxy, Class<?> targetClass) {
		boolean implemented = method.getDeclaringClass().isAssignableFrom(targetClass);
		Optional<LockedOperation> first = this.source.operation(method, implemented ? targetClass : proxy);
		return first.isPresent() ? first : this.source.operation(method, implemented ? proxy : targetClass);
	}

}
