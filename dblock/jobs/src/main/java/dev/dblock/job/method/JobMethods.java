package dev.dblock.job.method;

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.annotation.invocation.CallCarrier;
import dev.dblock.annotation.invocation.LockAnnotations;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.schedule.JobMethod;
import dev.dblock.job.schedule.ScheduledJobs;
import dev.dblock.job.schedule.ScheduledJobs.WhenUnlocked;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.BeanExpressionContext;
import org.springframework.beans.factory.config.BeanExpressionResolver;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.ClassUtils;

/**
 * Finds the locked methods that a scheduler can call, and has the scheduler's call
 * carried to their locks. The processor is not ordered, so that it runs after the
 * processors that apply {@code @Async} and retries to a bean, and before the processor
 * for {@code @Scheduled}.
 */
public final class JobMethods implements SmartInstantiationAwareBeanPostProcessor, BeanFactoryAware {

	private final ScheduledJobs jobs;

	private @Nullable BeanFactory beans;

	private @Nullable UnlockedMethods unlocked;

	/**
	 * Create the processor.
	 * @param jobs collects the methods
	 */
	public JobMethods(ScheduledJobs jobs) {
		this.jobs = jobs;
		jobs.targets(new TargetsOfTasks());
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beans = beanFactory;
		if (beanFactory instanceof ConfigurableListableBeanFactory listable) {
			this.jobs.checkDeclarationsBy(new JobPolicyChecks(listable, this.jobs)::check);
			this.unlocked = new UnlockedMethods(listable);
		}
	}

	/**
	 * Record the locked methods of a bean in a circular reference. Spring passes such a
	 * bean to all further post-processors without its proxy.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		Advised proxy = lockingProxy(bean);
		DistributedLockAdvisor advisor = (proxy != null) ? advisor(proxy) : null;
		if (advisor != null) {
			Object target = TargetsOfTasks.innermost(bean);
			advisor.lockedMethods(ClassUtils.getUserClass(target))
				.forEach((method) -> this.jobs.addWithoutProxy(tasks(target, method)));
		}
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Advised proxy = lockingProxy(bean);
		DistributedLockAdvisor advisor = (proxy != null) ? advisor(proxy) : null;
		addUnlocked(bean, beanName, advisor);
		if (proxy == null || advisor == null || proxy.isFrozen()) {
			return bean;
		}
		Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(proxy));
		for (Method method : advisor.lockedMethods(type)) {
			if (LockedMethod.parameterCount(method) == 0) {
				add(bean, beanName, proxy, type, method,
						(policies) -> policies.declaration(advisor.operation(method, type)));
			}
		}
		return bean;
	}

	private void addUnlocked(Object bean, String beanName, @Nullable DistributedLockAdvisor advisor) {
		if (this.unlocked == null || this.jobs.whenUnlocked() == WhenUnlocked.IGNORE) {
			return;
		}
		Class<?> type = ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(bean));
		for (Method method : this.unlocked.of(bean, beanName, type)) {
			if (advisor == null || !advisor.matches(method, type)) {
				this.jobs.addUnlocked(tasks(bean, method), new LockedMethod(method, type).path());
			}
		}
	}

	/**
	 * Add a method that another advisor locks, with the locks of an engine of this
	 * library. Its lock must request the firing of the scheduler's call, and report the
	 * answer to that call.
	 * @param bean the bean
	 * @param beanName the name of the bean
	 * @param proxy the proxy that locks the method
	 * @param type the user class of the bean
	 * @param method the method, which has no parameters
	 * @param lock the lock of the method, once the application has started
	 */
	public void add(Object bean, String beanName, Advised proxy, Class<?> type, Method method,
			Supplier<LockOfJob> lock) {
		add(bean, beanName, proxy, type, method, (policies) -> policies.declaration(method, lock.get()));
	}

	private void add(Object bean, String beanName, Advised proxy, Class<?> type, Method method,
			Function<JobPolicies, JobMethod.Declaration> declaration) {
		JobMethod job = this.jobs.method(beanName, type, method.getName(),
				() -> declaration.apply(new JobPolicies(this.jobs, beanName, (text) -> resolve(text, beanName))));
		tasks(bean, method).forEach((task) -> this.jobs.add(task, job));
		// A scoped bean may have other instances, which the job does not know
		boolean single = this.beans != null && this.beans.containsBean(beanName) && this.beans.isSingleton(beanName);
		if (single) {
			job.target(TargetsOfTasks.innermost(bean));
		}
		if (!single || LockAnnotations.isScheduled(method)) {
			carry(proxy, method, job);
		}
		else {
			job.carryOnceCaptured(() -> carry(proxy, method, job));
		}
	}

	/**
	 * Return the texts that identify Spring's tasks for a method, blocking and reactive.
	 */
	private static Set<String> tasks(Object bean, Method method) {
		Set<String> types = new HashSet<>(Set.of(bean.getClass().getName()));
		Method invocable = invocable(method, bean.getClass());
		if (invocable != null) {
			types.add(invocable.getDeclaringClass().getName());
		}
		return types.stream().map((type) -> type + "." + method.getName()).collect(Collectors.toSet());
	}

	/**
	 * Surround the advice of a job: the scheduler's call enters outside of all advice,
	 * and a call of the method itself is recorded inside of all advice.
	 */
	private void carry(Advised proxy, Method method, JobMethod job) {
		proxy.addAdvisor(0, advisor(method, new CallCarrier(new JobCalls(this.jobs, job))));
		innermost(proxy).addAdvisor(advisor(method, (MethodInterceptor) (invocation) -> {
			job.called();
			return invocation.proceed();
		}));
	}

	private static Advised innermost(Advised proxy) {
		return (AopProxyUtils.getSingletonTarget(proxy) instanceof Advised inner && !inner.isFrozen())
				? innermost(inner) : proxy;
	}

	private @Nullable String resolve(String text, String beanName) {
		if (!(this.beans instanceof ConfigurableBeanFactory configurable)) {
			return text;
		}
		String resolved = configurable.resolveEmbeddedValue(text);
		BeanExpressionResolver expressions = configurable.getBeanExpressionResolver();
		if (resolved == null || expressions == null) {
			return resolved;
		}
		try {
			Object value = expressions.evaluate(resolved, new BeanOfJob(configurable, beanName));
			return (value != null) ? value.toString() : null;
		}
		catch (BeansException ex) {
			throw new IllegalArgumentException("its @JobPolicy has the expression '%s', which cannot be evaluated: %s"
				.formatted(text, NestedExceptionUtils.getMostSpecificCause(ex).getMessage()), ex);
		}
	}

	private static Advisor advisor(Method locked, MethodInterceptor advice) {
		return new StaticMethodMatcherPointcutAdvisor(advice) {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return LockedMethod.parameterCount(method) == 0 && method.getName().equals(locked.getName());
			}

		};
	}

	/**
	 * Return the outermost of a bean's proxies that locks its methods.
	 */
	private static @Nullable Advised lockingProxy(@Nullable Object bean) {
		Object current = bean;
		while (current instanceof Advised advised) {
			if (advisor(advised) != null) {
				return advised;
			}
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return null;
	}

	private static @Nullable DistributedLockAdvisor advisor(Advised proxy) {
		for (Advisor advisor : proxy.getAdvisors()) {
			if (advisor instanceof DistributedLockAdvisor locking) {
				return locking;
			}
		}
		return null;
	}

	/**
	 * The lock of a job that another advisor locks.
	 *
	 * @param name the name of the lock
	 * @param defaultId the id of the job unless it declares one; {@code null} for the
	 * name of the lock
	 * @param engine the engine of the lock
	 */
	public record LockOfJob(String name, @Nullable String defaultId, LockEngine engine) {
	}

	/**
	 * The context of expressions, which can use {@code beanName} beside all beans. The
	 * resolver evaluates equal contexts by the first one of them.
	 */
	private static final class BeanOfJob extends BeanExpressionContext {

		private static final String BEAN_NAME = "beanName";

		private final String beanName;

		BeanOfJob(ConfigurableBeanFactory beans, String beanName) {
			super(beans, null);
			this.beanName = beanName;
		}

		@Override
		public boolean containsObject(String key) {
			return key.equals(BEAN_NAME) || super.containsObject(key);
		}

		@Override
		public @Nullable Object getObject(String key) {
			return key.equals(BEAN_NAME) ? this.beanName : super.getObject(key);
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof BeanOfJob job && super.equals(job) && this.beanName.equals(job.beanName);
		}

		@Override
		public int hashCode() {
			return Objects.hash(super.hashCode(), this.beanName);
		}

	}

	private static @Nullable Method invocable(Method method, Class<?> beanType) {
		try {
			return AopUtils.selectInvocableMethod(method, beanType);
		}
		catch (IllegalStateException ex) {
			// A scheduler cannot call it either
			return null;
		}
	}

}
