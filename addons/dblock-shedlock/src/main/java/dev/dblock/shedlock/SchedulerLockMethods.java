package dev.dblock.shedlock;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.LockAnnotations;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.job.method.JobMethods;
import dev.dblock.job.method.JobMethods.LockOfJob;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.ExtendedLockConfigurationExtractor;
import net.javacrumbs.shedlock.spring.annotation.LockProviderToUse;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Completes the proxies of beans with {@link SchedulerLock @SchedulerLock}, so that the
 * provider knows which method is called, and for which planned time. Not ordered, as
 * {@link JobMethods}.
 */
final class SchedulerLockMethods implements BeanPostProcessor, SmartInitializingSingleton {

	/** Not visible outside of ShedLock. */
	private static final String ADVISOR = "net.javacrumbs.shedlock.spring.aop.MethodProxyScheduledLockAdvisor";

	private static final Logger logger = LoggerFactory.getLogger(SchedulerLockMethods.class);

	private final ConfigurableListableBeanFactory beans;

	private final Map<String, Supplier<LockConfiguration>> locks = new ConcurrentHashMap<>();

	/**
	 * Methods that were not added, because the bean of their provider was not created
	 * yet.
	 */
	private final Map<String, String> undecided = new ConcurrentHashMap<>();

	SchedulerLockMethods(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
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
		// Absent without dblock.once-per-planned-time
		JobMethods jobs = this.beans.getBeanProvider(JobMethods.class).getIfAvailable();
		Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(proxy));
		Set<Method> methods = MethodIntrospector.selectMethods(type,
				(MethodFilter) (method) -> locked.getMethodMatcher().matches(method, type));
		for (Method method : methods) {
			boolean twice = AnnotatedElementUtils.hasAnnotation(method, DistributedLock.class);
			String provider = (twice || (jobs != null && isJob(method))) ? provider(method, type) : null;
			if (provider == null || !isProvidedByDblock(provider, method, type)) {
				continue;
			}
			if (twice) {
				throw new InvalidLockDeclarationException(List.of(new LockedMethod(method, type).path()
						+ " has @SchedulerLock and"
						+ " @DistributedLock, which would refuse each other: dblock provides both locks. Remove one"));
			}
			add(Objects.requireNonNull(jobs), bean, beanName, proxy, type, method, provider);
		}
	}

	/**
	 * Whether a provider is that of dblock. Its bean can be declared as any
	 * {@link LockProvider}, and has to be created then.
	 */
	private boolean isProvidedByDblock(String provider, Method method, Class<?> type) {
		if (this.beans.isTypeMatch(provider, DblockLockProvider.class)) {
			return true;
		}
		Class<?> declared = this.beans.getType(provider, false);
		if (declared == null || !declared.isAssignableFrom(DblockLockProvider.class)) {
			return false;
		}
		try {
			return this.beans.getBean(provider) instanceof DblockLockProvider;
		}
		catch (BeansException ex) {
			// As if the bean of the method is also the configuration of the provider
			if (LockAnnotations.isScheduled(method)) {
				this.undecided.put(new LockedMethod(method, type).path(), provider);
			}
			return false;
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.undecided.forEach((place, provider) -> {
			if (this.beans.getBean(provider) instanceof DblockLockProvider) {
				logger.warn(
						"{} excludes other runs, but does not run once per planned time, because its provider was"
								+ " created too late. Declare DblockLockProvider as the type of the bean '{}'",
						place, provider);
			}
		});
	}

	/**
	 * Whether the lock of a method can be acquired for a planned time. ShedLock locks
	 * only the call that creates a reactive sequence.
	 */
	private static boolean isJob(Method method) {
		return method.getParameterCount() == 0
				&& ReactiveAdapterRegistry.getSharedInstance().getAdapter(method.getReturnType()) == null;
	}

	/**
	 * Return the name of the provider that ShedLock uses for a method, or {@code null} if
	 * it cannot choose one. It ignores the annotation if there is only one provider.
	 */
	private @Nullable String provider(Method method, Class<?> type) {
		List<String> all = List
			.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, LockProvider.class, true, false));
		String named = (all.size() > 1) ? named(method, type) : null;
		if (named != null) {
			return named;
		}
		List<String> candidates = DblockShedLockAutoConfiguration.candidates(this.beans, all);
		return (candidates.size() == 1) ? candidates.get(0) : null;
	}

	private static @Nullable String named(Method method, Class<?> type) {
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
			String provider) {
		String place = new LockedMethod(method, type).path();
		Supplier<LockConfiguration> lock = () -> this.beans.getBean(ExtendedLockConfigurationExtractor.class)
			.getLockConfiguration(bean, method, new Object[0])
			.orElseThrow();
		this.locks.put(place, lock);
		jobs.add(bean, beanName, proxy, type, method, () -> {
			LockConfiguration configuration = lock.get();
			DblockLockProvider used = this.beans.getBean(provider, DblockLockProvider.class);
			used.check(configuration);
			String name = configuration.getName();
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

	private static @Nullable String orNull(Supplier<LockConfiguration> lock) {
		try {
			return lock.get().getName();
		}
		catch (RuntimeException ex) {
			// Reported for the method itself
			return null;
		}
	}

}
