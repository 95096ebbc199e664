package dev.dblock.annotation;

import java.lang.reflect.Method;
import java.util.List;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.LockedOperation;
import dev.dblock.annotation.invocation.LockedOperationSource;
import dev.dblock.engine.LockEngine;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.StringValueResolver;
import org.springframework.util.function.SingletonSupplier;

/**
 * Advises every method that has {@link DistributedLock @DistributedLock} with its lock.
 * The engine is obtained at the first call only, so that no bean is created early because
 * of the advisor.
 */
@SuppressWarnings("serial")
public final class DistributedLockAdvisor extends StaticMethodMatcherPointcutAdvisor {

	/**
	 * The default order: inside of Spring Framework's {@code @Retryable}, outside of
	 * caches and transactions, and outside of the retries of spring-retry and
	 * Resilience4j.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	private final LockedOperationSource source;

	private final LockChecks checks;

	/**
	 * Create the advisor.
	 * @param beanFactory provides placeholders, the beans in expressions, and the proxy
	 * settings
	 * @param engine acquires the locks
	 * @param order the order of the lock among the advisors of a method
	 */
	public DistributedLockAdvisor(ConfigurableListableBeanFactory beanFactory, ObjectProvider<LockEngine> engine,
			int order) {
		this.source = new LockedOperationSource(beanFactory, engine);
		this.checks = new LockChecks(this.source, new ProxyRules(beanFactory),
				SingletonSupplier.of(() -> new DeclaredTransactions(beanFactory)), engine);
		setClassFilter(this.checks::admits);
		setAdvice(this.source.interceptor());
		setOrder(order);
	}

	/**
	 * Create the advisor that has the transaction of each transactional method with a
	 * reactive type join the locks around it. Needs Reactor.
	 * @param placeholders resolves the placeholders in transaction attributes
	 * @return the advisor
	 */
	public static Advisor forReactiveTransactions(StringValueResolver placeholders) {
		return new ReactiveTransactionAdvisor(placeholders);
	}

	LockChecks checks() {
		return this.checks;
	}

	/**
	 * Return the locked methods of a class.
	 * @param userClass the class
	 * @return its methods
	 */
	public List<Method> lockedMethods(Class<?> userClass) {
		return this.source.lockedMethods(userClass).stream().map((locked) -> locked.method().method()).toList();
	}

	/**
	 * Return the locks of a method.
	 * @param method a locked method
	 * @param userClass the class of the bean
	 * @return the locks
	 * @throws dev.dblock.annotation.invocation.InvalidLockDeclarationException if the
	 * declaration cannot work
	 */
	public LockedOperation operation(Method method, Class<?> userClass) {
		return this.source.operation(method, userClass)
			.orElseThrow(() -> new IllegalStateException(method + " is not locked"));
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.source.isLocked(method, targetClass);
	}

}
