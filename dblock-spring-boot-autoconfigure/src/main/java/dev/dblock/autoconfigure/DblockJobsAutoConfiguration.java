package dev.dblock.autoconfigure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.dblock.job.JobOperations;
import dev.dblock.job.method.JobMethods;
import dev.dblock.job.schedule.ScheduledJobs;
import dev.dblock.job.schedule.ScheduledJobs.WhenUnlocked;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
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
@ConditionalOnSwitch(DblockJobsAutoConfiguration.ONCE_PER_PLANNED_TIME)
public final class DblockJobsAutoConfiguration {

	static final String ONCE_PER_PLANNED_TIME = "dblock.once-per-planned-time";

	private static final ConfigurationPropertyName UNLOCKED = ConfigurationPropertyName.of("dblock.jobs.unlocked");

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static ScheduledJobs dblockScheduledJobs(Environment environment) {
		Map<String, ScheduledJobs.Settings> settings = new LinkedHashMap<>();
		binderOfSettings(environment).bind("dblock.jobs", Bindable.mapOf(String.class, DblockProperties.Job.class))
			.ifBound((jobs) -> jobs.forEach((id, job) -> settings.put(id, new ScheduledJobs.Settings(job.whenCrashed(),
					job.whenMissed(), job.startWithin(), job.whenClockChanges()))));
		WhenUnlocked whenUnlocked = Binder.get(environment)
			.bind(UNLOCKED, Bindable.of(WhenUnlocked.class))
			.orElse(WhenUnlocked.LOG);
		return new ScheduledJobs(settings, whenUnlocked);
	}

	/**
	 * Return a binder that does not see the one property that is no setting of a job.
	 */
	private static Binder binderOfSettings(Environment environment) {
		List<ConfigurationPropertySource> sources = new ArrayList<>();
		ConfigurationPropertySources.get(environment)
			.forEach((source) -> sources.add(source.filter((name) -> !name.equals(UNLOCKED))));
		return new Binder(sources, new PropertySourcesPlaceholdersResolver(environment));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static JobMethods dblockJobMethods(ScheduledJobs jobs) {
		return new JobMethods(jobs);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(value = JobOperations.class, search = SearchStrategy.CURRENT)
	JobOperations dblockJobOperations(ApplicationContext context) {
		return ScheduledJobs.operations(context);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static BeanDefinitionRegistryPostProcessor dblockJobSchedulingRegistrar() {
		return ScheduledJobs.schedulingRegistrar();
	}

}
