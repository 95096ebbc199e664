package dev.dblock.job.method;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Set;

import dev.dblock.annotation.AnnotationMentions;
import dev.dblock.annotation.invocation.LockAnnotations;
import dev.dblock.job.RunsOnEveryInstance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Finds the scheduled methods of beans that have no lock and are not declared to run on
 * every instance.
 */
final class UnlockedMethods {

	private static final Logger logger = LoggerFactory.getLogger(UnlockedMethods.class);

	private static final AnnotationMentions SCHEDULES = new AnnotationMentions(Scheduled.class.getName(),
			Schedules.class.getName());

	private static final String SHEDLOCK = "net.javacrumbs.shedlock.spring.annotation.SchedulerLock";

	/** The bean behind {@code @EnableSchedulerLock}, in each of its modes. */
	private static final String SHEDLOCK_ENABLED = "net.javacrumbs.shedlock.spring.aop.LockConfigurationExtractorConfiguration";

	private final ListableBeanFactory beans;

	UnlockedMethods(ListableBeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Return the methods of a bean. Whether Spring schedules them is not known yet.
	 */
	Set<Method> of(Object bean, String beanName, Class<?> type) {
		// Spring does not schedule the methods of scoped proxies, but those of their
		// targets
		if (bean instanceof AopInfrastructureBean || !SCHEDULES.in(type)) {
			return Set.of();
		}
		try {
			return isMeant(beanName, type) ? Set.of()
					: MethodIntrospector.selectMethods(type, (MethodFilter) this::isUnlocked);
		}
		catch (IllegalStateException | LinkageError ex) {
			// A class that refers to an absent library can be a bean as long as that part
			// is not used
			logger.debug("Could not inspect {} for scheduled methods", type, ex);
			return Set.of();
		}
	}

	private boolean isMeant(String beanName, Class<?> type) {
		return isPresent(RunsOnEveryInstance.class.getName(), type) || this.beans.containsBean(beanName)
				&& this.beans.findAnnotationOnBean(beanName, RunsOnEveryInstance.class, false) != null;
	}

	private boolean isUnlocked(Method method) {
		return LockAnnotations.isScheduled(method) && !LockAnnotations.arePresent(method)
				&& !isPresent(RunsOnEveryInstance.class.getName(), method)
				&& !(this.beans.containsBean(SHEDLOCK_ENABLED) && hasSchedulerLock(method));
	}

	/**
	 * Return whether a method is declared to be locked by ShedLock.
	 */
	static boolean hasSchedulerLock(Method method) {
		return isPresent(SHEDLOCK, method);
	}

	private static boolean isPresent(String annotation, AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(annotation);
	}

}
