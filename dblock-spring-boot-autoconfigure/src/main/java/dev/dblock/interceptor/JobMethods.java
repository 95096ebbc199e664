package dev.dblock.interceptor;

import java.lang.reflect.Method;
import java.util.List;

import dev.dblock.job.schedule.JobMethod;
import dev.dblock.job.schedule.ScheduledJobs;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.ClassUtils;

/**
 * Finds the locked methods that a scheduler can call, and has the scheduler's call
 * carried to their locks. It has no order, so that it comes after the processors that put
 * {@code @Async} and retries around a bean, and before the one that schedules.
 */
public final class JobMethods implements BeanPostProcessor {

	private final ScheduledJobs jobs;

	/**
	 * Create the processor.
	 * @param jobs where the methods are collected
	 */
	public JobMethods(ScheduledJobs jobs) {
		this.jobs = jobs;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Advised proxy = lockingProxy(bean);
		DistributedLockAdvisor advisor = (proxy != null) ? advisor(proxy) : null;
		if (proxy == null || advisor == null) {
			return bean;
		}
		Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(proxy));
		List<Method> methods = advisor.lockedMethods(type)
			.stream()
			.filter((method) -> method.getParameterCount() == 0)
			.toList();
		for (Method method : methods) {
			JobMethod job = new JobMethod(beanName, type, method.getName(), () -> advisor.jobDeclaration(method, type));
			// By these texts Spring's tasks are known, blocking and reactive ones
			this.jobs.add(bean.getClass().getName() + "." + method.getName(), job);
			Method invocable = invocable(method, bean.getClass());
			if (invocable != null) {
				this.jobs.add(invocable.getDeclaringClass().getName() + "." + method.getName(), job);
			}
		}
		if (!methods.isEmpty() && !proxy.isFrozen()) {
			proxy.addAdvisor(0, carrier(methods, type));
		}
		return bean;
	}

	private static Advisor carrier(List<Method> methods, Class<?> type) {
		List<String> names = methods.stream().map(Method::getName).toList();
		return new DefaultPointcutAdvisor(new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return method.getParameterCount() == 0 && names.contains(method.getName());
			}

		}, new JobCarrier(type));
	}

	/**
	 * The outermost of a bean's proxies that locks its methods.
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

	private static @Nullable Method invocable(Method method, Class<?> beanType) {
		try {
			return AopUtils.selectInvocableMethod(method, beanType);
		}
		catch (IllegalStateException ex) {
			// No scheduler can call it either
			return null;
		}
	}

}
