package dev.dblock.shedlock;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.JobMethods;
import dev.dblock.annotation.JobMethods.LockOfJob;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.spring.ExtendedLockConfigurationExtractor;
import net.javacrumbs.shedlock.spring.annotation.LockProviderToUse;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * Completes the proxies of beans with {@link SchedulerLock @SchedulerLock}, so that the
 * provider knows which method is called, and for which planned time. Not ordered, as
 * {@link JobMethods}.
 */
final class SchedulerLockMethods implements BeanPostProcessor {

	/** Not visible outside of ShedLock. */
	private static final String ADVISOR = "net.javacrumbs.shedlock.spring.aop.MethodProxyScheduledLockAdvisor";

	private final ListableBeanFactory beans;

	private final boolean oncePerPlannedTime;

	private final Map<String, Supplier<String>> locks = new ConcurrentHashMap<>();

	SchedulerLockMethods(ListableBeanFactory beans, boolean oncePerPlannedTime) {
		this.beans = beans;
		this.oncePerPlannedTime = oncePerPlannedTime;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Object current = bean;
		while (current instanceof Advised proxy) {
			int index = shedLock(proxy);
			if (index >= 0) {
				if (!proxy.isFrozen()) {
					complete(bean, beanName, proxy, index);
				}
				return bean;
			}
			current = AopProxyUtils.getSingletonTarget(proxy);
		}
		return bean;
	}

	private static int shedLock(Advised proxy) {
		Advisor[] advisors = proxy.getAdvisors();
		for (int index = 0; index < advisors.length; index++) {
			if (advisors[index].getClass().getName().equals(ADVISOR)) {
				return index;
			}
		}
		return -1;
	}

	private void complete(Object bean, String beanName, Advised proxy, int index) {
		Pointcut locked = ((PointcutAdvisor) proxy.getAdvisors()[index]).getPointcut();
		proxy.addAdvisor(index + 1, new DefaultPointcutAdvisor(locked, SchedulerLockCall.WORKING));
		proxy.addAdvisor(index, new DefaultPointcutAdvisor(locked, SchedulerLockCall.BINDING));
		JobMethods jobs = this.oncePerPlannedTime ? this.beans.getBeanProvider(JobMethods.class).getIfAvailable()
				: null;
		if (jobs == null) {
			return;
		}
		Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(proxy));
		Set<Method> methods = MethodIntrospector
			.selectMethods(type,
					(MethodIntrospector.MetadataLookup<@Nullable Boolean>) (
							method) -> (locked.getMethodMatcher().matches(method, type) && isJob(method)) ? true : null)
			.keySet();
		for (Method method : methods) {
			String provider = provider(method, type);
			if (provider == null || this.beans.isTypeMatch(provider, DblockLockProvider.class)) {
				add(jobs, bean, beanName, proxy, type, method, provider);
			}
		}
	}

	/**
	 * Whether the lock of a method can be acquired for a planned time. ShedLock locks
	 * only the call that creates a reactive sequence.
	 */
	private static boolean isJob(Method method) {
		return method.getParameterCount() == 0
				&& ReactiveAdapterRegistry.getSharedInstance().getAdapter(method.getReturnType()) == null
				&& !AnnotatedElementUtils.hasAnnotation(method, DistributedLock.class);
	}

	private static @Nullable String provider(Method method, Class<?> type) {
		LockProviderToUse used = AnnotatedElementUtils.findMergedAnnotation(method, LockProviderToUse.class);
		if (used == null) {
			used = AnnotatedElementUtils.findMergedAnnotation(type, LockProviderToUse.class);
		}
		if (used == null) {
			used = method.getDeclaringClass().getPackage().getAnnotation(LockProviderToUse.class);
		}
		return (used != null) ? used.value() : null;
	}

	private void add(JobMethods jobs, Object bean, String beanName, Advised proxy, Class<?> type, Method method,
			@Nullable String provider) {
		String place = type.getName() + "#" + method.getName();
		Supplier<String> lock = () -> this.beans.getBean(ExtendedLockConfigurationExtractor.class)
			.getLockConfiguration(bean, method, new Object[0])
			.map(LockConfiguration::getName)
			.orElseThrow();
		this.locks.put(place, lock);
		jobs.add(bean, beanName, proxy, type, method, () -> {
			String name = lock.get();
			DblockLockProvider used = (provider != null) ? this.beans.getBean(provider, DblockLockProvider.class)
					: this.beans.getBean(DblockLockProvider.class);
			return new LockOfJob(name, isShared(name, place) ? place : null, used.engine());
		});
	}

	/**
	 * Whether another method has the same lock, so that its name does not identify a job.
	 */
	private boolean isShared(String name, String place) {
		return this.locks.entrySet()
			.stream()
			.anyMatch((entry) -> !entry.getKey().equals(place) && name.equals(orNull(entry.getValue())));
	}

	private static @Nullable String orNull(Supplier<String> lock) {
		try {
			return lock.get();
		}
		catch (RuntimeException ex) {
			// Reported for the method itself
			return null;
		}
	}

}
