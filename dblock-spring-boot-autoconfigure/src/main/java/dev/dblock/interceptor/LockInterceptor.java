package dev.dblock.interceptor;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;

/**
 * Runs a method under its lock.
 */
final class LockInterceptor implements MethodInterceptor {

	private final LockOperationSource source;

	LockInterceptor(LockOperationSource source) {
		this.source = source;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target) : null;
		LockOperation operation = this.source.operation(invocation.getMethod(), targetClass).orElse(null);
		return (operation != null) ? operation.span().invoke(operation, invocation) : invocation.proceed();
	}

}
