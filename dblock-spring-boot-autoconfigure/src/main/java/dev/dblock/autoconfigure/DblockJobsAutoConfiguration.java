package dev.dblock.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.job.JobOperations;
import dev.dblock.job.method.JobMethods;
import dev.dblock.job.schedule.ScheduledJobs;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration that runs each planned time of scheduled and locked methods once. A
 * child context has its own beans, since it has its own scheduler.
 */
@AutoConfiguration(after = DblockAopAutoConfiguration.class)
@ConditionalOnProperty(name = DblockJobsAutoConfiguration.ONCE_PER_PLANNED_TIME, matchIfMissing = true)
public final class DblockJobsAutoConfiguration {

	static final String ONCE_PER_PLANNED_TIME = "dblock.once-per-planned-time";

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static ScheduledJobs dblockScheduledJobs(Environment environment) {
		Map<String, ScheduledJobs.Settings> settings = new LinkedHashMap<>();
		Binder.get(environment)
			.bind("dblock.jobs", Bindable.mapOf(String.class, DblockProperties.Job.class))
			.ifBound((jobs) -> jobs.forEach((id, job) -> settings.put(id, new ScheduledJobs.Settings(job.whenCrashed(),
					job.whenMissed(), job.startWithin(), job.whenClockChanges()))));
		return new ScheduledJobs(settings);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static JobMethods dblockJobMethods(ScheduledJobs jobs) {
		return new JobMethods(jobs);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(value = JobOperations.class, search = SearchStrategy.CURRENT)
	JobOperations jobOperations(ApplicationContext context) {
		return ScheduledJobs.operations(context);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static BeanDefinitionRegistryPostProcessor dblockJobSchedulingRegistrar() {
		return ScheduledJobs.schedulingRegistrar();
	}

}
