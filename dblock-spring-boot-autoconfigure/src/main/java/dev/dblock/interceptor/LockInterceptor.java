package dev.dblock.interceptor;

import java.util.function.Supplier;

import dev.dblock.LockRefusal;
import dev.dblock.LockTemplate;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.support.AopUtils;

/**
 * Runs a method under its lock.
 */
final class LockInterceptor implements MethodInterceptor {

	private static final Logger logger = LoggerFactory.getLogger(LockInterceptor.class);

	private final LockOperationSource source;

	private final LastingResults results;

	private final Supplier<LockTemplate> template;

	LockInterceptor(LockOperationSource source, LastingResults results, Supplier<LockTemplate> template) {
		this.source = source;
		this.results = results;
		this.template = template;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target) : null;
		LockOperation operation = this.source.operation(invocation.getMethod(), targetClass).orElse(null);
		if (operation == null) {
			return invocation.proceed();
		}
		return execute(operation, invocation);
	}

	// NullAway takes a type variable for one that is never null
	@SuppressWarnings("NullAway")
	private @Nullable Object execute(LockOperation operation, MethodInvocation invocation) throws Throwable {
		String name = operation.name().of(invocation.getThis(), invocation.getArguments());
		return this.template.get()
			.<@Nullable Object, Throwable>execute(name, operation.options(),
					() -> this.results.ended(operation.method(), invocation.proceed()),
					(refusal) -> unavailable(operation, name, refusal));
	}

	private @Nullable Object unavailable(LockOperation operation, String name, LockRefusal refusal) {
		if (!operation.skips(this.template.get().engine().whenUnavailable(name))) {
			throw refusal.toException();
		}
		if (logger.isInfoEnabled()) {
			logger.info("Skipped {}: {}", operation.method().path(), refusal.describe());
		}
		return operation.skipped();
	}

}
