package dev.dblock.job.method;

import java.util.Locale;
import java.util.Map;

import dev.dblock.annotation.EnableDistributedLocks;
import dev.dblock.job.JobOperations;
import dev.dblock.job.schedule.ScheduledJobs;
import dev.dblock.job.schedule.ScheduledJobs.WhenUnlocked;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * The beans for jobs behind {@link EnableDistributedLocks @EnableDistributedLocks}, which
 * imports this class by its name.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class JobConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static ScheduledJobs dblockScheduledJobs(Environment environment) {
		String whenUnlocked = environment.getProperty("dblock.jobs.unlocked", "log");
		return new ScheduledJobs(Map.of(), WhenUnlocked.valueOf(whenUnlocked.toUpperCase(Locale.ROOT)));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static JobMethods dblockJobMethods(ScheduledJobs jobs) {
		return new JobMethods(jobs);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static BeanDefinitionRegistryPostProcessor dblockJobSchedulingRegistrar() {
		return ScheduledJobs.schedulingRegistrar();
	}

	@Bean
	@Lazy
	JobOperations dblockJobOperations(ApplicationContext context) {
		return ScheduledJobs.operations(context);
	}

}
