package dev.dblock.annotation;

import java.lang.reflect.Method;
import java.util.List;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.LockInterceptor;
import dev.dblock.annotation.invocation.LockedOperation;
import dev.dblock.annotation.invocation.LockedOperationSource;
import dev.dblock.engine.LockEngine;
import org.aopalliance.aop.Advice;

import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;

/**
 * Advises every method that has {@link DistributedLock @DistributedLock} with its lock.
 * The engine is obtained at the first call only, so that no bean is created early because
 * of the advisor.
 */
public final class DistributedLockAdvisor implements PointcutAdvisor, Ordered {

	/**
	 * The default order: inside of Spring Framework's {@code @Retryable}, outside of
	 * caches and transactions, and outside of the retries of spring-retry and
	 * Resilience4j.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	private final LockedOperationSource source;

	private final LockChecks checks;

	private final Pointcut pointcut;

	private final Advice advice;

	private final int order;

	/**
	 * Create the advisor.
	 * @param beanFactory provides placeholders, the beans in expressions, and the proxy
	 * settings
	 * @param engine acquires the locks
	 * @param order the order of the lock among the advisors of a method
	 */
	public DistributedLockAdvisor(ConfigurableListableBeanFactory beanFactory, ObjectProvider<LockEngine> engine,
			int order) {
		LockedOperationSource source = LockedOperationSource.of(beanFactory, engine);
		this.source = source;
		this.checks = new LockChecks(source, new ProxyRules(beanFactory),
				SingletonSupplier.of(() -> new DeclaredTransactions(beanFactory)), engine);
		this.pointcut = new LockedMethods(source, this.checks);
		this.advice = new LockInterceptor(source);
		this.order = order;
	}

	LockChecks checks() {
		return this.checks;
	}

	List<Method> lockedMethods(Class<?> userClass) {
		return this.source.declarations(userClass)
			.stream()
			.map((declaration) -> declaration.method().method())
			.toList();
	}

	LockedOperation operation(Method method, Class<?> userClass) {
		return this.source.operation(method, userClass)
			.orElseThrow(() -> new IllegalStateException(method + " is not locked"));
	}

	@Override
	public Pointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.advice;
	}

	@Override
	public int getOrder() {
		return this.order;
	}

	private static final class LockedMethods extends StaticMethodMatcherPointcut {

		private final LockedOperationSource source;

		LockedMethods(LockedOperationSource source, LockChecks checks) {
			this.source = source;
			setClassFilter(checks::admits);
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return this.source.declaration(method, targetClass).isPresent();
		}

	}

}
