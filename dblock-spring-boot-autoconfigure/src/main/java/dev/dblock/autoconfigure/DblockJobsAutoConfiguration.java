package dev.dblock.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.annotation.JobMethods;
import dev.dblock.job.JobOperations;
import dev.dblock.job.schedule.ScheduledJobs;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
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

	private static final String PREFIX = "dblock.jobs";

	static final String ONCE_PER_PLANNED_TIME = PREFIX + ".once-per-planned-time";

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static ScheduledJobs dblockScheduledJobs(Environment environment) {
		Map<String, ScheduledJobs.Settings> settings = new LinkedHashMap<>();
		Binder.get(environment)
			.bind(PREFIX, Bindable.mapOf(String.class, DblockProperties.Job.class), new OnlySingleJobs())
			.ifBound((jobs) -> jobs.forEach((id, job) -> settings.put(id,
					new ScheduledJobs.Settings(job.whenCrashed(), job.whenMissed(), job.startWithin()))));
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

	/**
	 * Ignores the property under the prefix that is not the id of a job.
	 */
	private static final class OnlySingleJobs implements BindHandler {

		@Override
		public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Exception error) throws Exception {
			if (name.equals(ConfigurationPropertyName.of(ONCE_PER_PLANNED_TIME))) {
				return null;
			}
			throw error;
		}

	}

}
