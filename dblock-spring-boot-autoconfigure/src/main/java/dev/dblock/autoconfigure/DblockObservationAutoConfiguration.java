package dev.dblock.autoconfigure;

import dev.dblock.job.JobOperations;
import dev.dblock.job.micrometer.JobMeters;
import dev.dblock.micrometer.LockMeters;
import dev.dblock.micrometer.LockObservationConvention;
import dev.dblock.micrometer.PermitMeters;
import dev.dblock.micrometer.MicrometerLockObserver;
import dev.dblock.observation.LockObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Auto-configuration for metrics and traces of locks, in applications with registries for
 * them.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class,
		afterName = { "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
				"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration" })
public final class DblockObservationAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	static class Observations {

		@Bean
		@ConditionalOnMissingBean(value = LockObserver.class, ignoredType = "dev.dblock.micrometer.PermitMeters")
		MicrometerLockObserver dblockLockObserver(ObservationRegistry registry,
				ObjectProvider<LockObservationConvention> convention) {
			return new MicrometerLockObserver(registry, convention.getIfAvailable());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnBean(MeterRegistry.class)
	static class Meters {

		@Bean
		@ConditionalOnMissingBean
		LockMeters dblockLockMeters(ConfigurableListableBeanFactory beanFactory) {
			CreatedEngines engines = new CreatedEngines(beanFactory);
			return new LockMeters(engines::usual, () -> engines.others().values());
		}

		@Bean
		@ConditionalOnMissingBean
		PermitMeters dblockPermitMeters(ObjectProvider<MeterRegistry> registry) {
			return new PermitMeters(registry::getIfUnique);
		}

		@Bean
		@Lazy
		@ConditionalOnSingleCandidate(MeterRegistry.class)
		@ConditionalOnMissingBean
		JobMeters dblockJobMeters(MeterRegistry registry, ObjectProvider<JobOperations> jobs) {
			SimpleAsyncTaskExecutor background = new SimpleAsyncTaskExecutor("dblock-job-meters-");
			background.setDaemon(true);
			return new JobMeters(registry, jobs::getIfUnique, background);
		}

	}

}
