package dev.dblock.job.method;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.TreeSet;

import dev.dblock.annotation.AnnotationMentions;
import dev.dblock.annotation.BeanInspector;
import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.annotation.InspectedBean;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.schedule.ScheduledJobs;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Finds each {@link JobPolicy @JobPolicy} that would have no effect, because its method
 * is not a job. Creates no beans.
 */
final class JobPolicyChecks {

	private static final Logger logger = LoggerFactory.getLogger(JobPolicyChecks.class);

	private static final AnnotationMentions POLICIES = new AnnotationMentions(JobPolicy.class.getName());

	private final ConfigurableListableBeanFactory beanFactory;

	private final BeanInspector beans;

	private final ScheduledJobs jobs;

	JobPolicyChecks(ConfigurableListableBeanFactory beanFactory, ScheduledJobs jobs) {
		this.beanFactory = beanFactory;
		this.beans = new BeanInspector(beanFactory);
		this.jobs = jobs;
	}

	/**
	 * Check all beans of the context.
	 * @param findings receives the problems
	 */
	void check(Set<String> findings) {
		for (InspectedBean bean : this.beans.inspect()) {
			if (POLICIES.in(bean.type())) {
				check(bean, findings);
			}
		}
	}

	private void check(InspectedBean bean, Set<String> findings) {
		Set<String> own = new TreeSet<>();
		try {
			if (isPresent(bean.type())) {
				own.add(bean.type().getName() + ": has @JobPolicy on the class, where it has no effect; declare it on"
						+ " the method of the job");
			}
			for (Method method : MethodIntrospector.selectMethods(bean.type(),
					(MethodFilter) JobPolicyChecks::isPresent)) {
				String missing = missing(bean, method);
				if (missing != null) {
					own.add(new LockedMethod(method, bean.type()).describe() + ": has @JobPolicy, but " + missing
							+ ", so the policy has no effect; add it, or remove the policy");
				}
			}
		}
		catch (IllegalStateException | LinkageError ex) {
			// A class that refers to an absent library can be a bean as long as that part
			// is not used
			logger.debug("Could not inspect {} for jobs", bean.type(), ex);
		}
		if (!own.isEmpty() && !bean.isMock()) {
			own.forEach((finding) -> findings.add("bean '%s', %s".formatted(bean.name(), finding)));
		}
	}

	/**
	 * Return what a method with a policy lacks to be a job. A method that is not
	 * scheduled can have inherited the policy, since Spring does not inherit the
	 * schedule. Without scheduling, it is unknown what another configuration would
	 * schedule.
	 */
	private @Nullable String missing(InspectedBean bean, Method method) {
		boolean own = MergedAnnotations.from(method).isPresent(JobPolicy.class);
		boolean scheduled = MergedAnnotations.from(method).isPresent(Scheduled.class)
				|| this.jobs.isScheduled(bean.name(), bean.type(), method.getName());
		if (!scheduled && own && this.jobs.isScheduling()) {
			return "no @Scheduled";
		}
		return ((scheduled || own) && !isLocked(bean, method)) ? "no @DistributedLock" : null;
	}

	private boolean isLocked(InspectedBean bean, Method method) {
		if (this.jobs.isLocked(bean.name(), bean.type(), method.getName())) {
			return true;
		}
		if (bean.instance() == null && UnlockedMethods.hasSchedulerLock(method)) {
			return true;
		}
		return this.beanFactory.getBeanProvider(DistributedLockAdvisor.class)
			.stream()
			.anyMatch((advisor) -> advisor.matches(method, bean.type()));
	}

	private static boolean isPresent(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(JobPolicy.class);
	}

}
