package dev.dblock.actuate;

import java.util.function.Supplier;

import dev.dblock.LockTemplates;
import dev.dblock.autoconfigure.CreatedEngines;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import dev.dblock.autoconfigure.DblockProperties;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobOperations;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Auto-configuration for the endpoints {@code dblock} and {@code dblockjobs}, each if it
 * is exposed, and for the health of the locks, in applications that report their health.
 */
@AutoConfiguration(after = { DblockAutoConfiguration.class, DblockJobsAutoConfiguration.class })
public final class DblockActuateAutoConfiguration {

	private static final String HEALTH = "dblockHealthIndicator";

	private static Supplier<LockHealth> health(ConfigurableListableBeanFactory beanFactory) {
		CreatedEngines engines = new CreatedEngines(beanFactory);
		return () -> LockHealth.of(engines.usual(), engines.others());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
	@ConditionalOnSingleCandidate(LockEngine.class)
	@ConditionalOnAvailableEndpoint(DblockEndpoint.class)
	static class LocksEndpoint {

		@Bean
		@ConditionalOnMissingBean
		DblockEndpoint dblockEndpoint(ObjectProvider<LockEngine> engine, DblockProperties properties,
				ObjectProvider<LockTemplates> templates) {
			return new DblockEndpoint((database) -> (database == null) ? engine.getObject().administration()
					: CreatedEngines.look(database, templates.getObject()), properties.namePrefix());
		}

		@Bean
		@ConditionalOnMissingBean
		DblockEndpointWebExtension dblockEndpointWebExtension(DblockEndpoint endpoint) {
			return new DblockEndpointWebExtension(endpoint);
		}

	}

	/**
	 * A child context has its own endpoint, which also shows the jobs of its ancestors.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
	@ConditionalOnSingleCandidate(value = JobOperations.class, search = SearchStrategy.CURRENT)
	@ConditionalOnAvailableEndpoint(DblockJobsEndpoint.class)
	static class JobsEndpoint {

		@Bean
		@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
		DblockJobsEndpoint dblockJobsEndpoint(JobOperations jobs) {
			return new DblockJobsEndpoint(jobs);
		}

		@Bean
		@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
		DblockJobsEndpointWebExtension dblockJobsEndpointWebExtension(DblockJobsEndpoint endpoint) {
			return new DblockJobsEndpointWebExtension(endpoint);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnBean(LockEngine.class)
	@ConditionalOnEnabledHealthIndicator("dblock")
	static class Boot4Health {

		@Bean(HEALTH)
		@ConditionalOnMissingBean(name = HEALTH)
		LockHealthIndicator dblockHealthIndicator(ConfigurableListableBeanFactory beanFactory) {
			return new LockHealthIndicator(health(beanFactory));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { Boot3LockHealthIndicator.TYPE,
			"org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator" })
	@ConditionalOnBean(LockEngine.class)
	@Conditional(EnabledInBoot3.class)
	static class Boot3Health {

		@Bean(HEALTH)
		@ConditionalOnMissingBean(name = HEALTH)
		Boot3LockHealthIndicator dblockHealthIndicator(ConfigurableListableBeanFactory beanFactory) {
			return new Boot3LockHealthIndicator(health(beanFactory), beanFactory.getBeanClassLoader());
		}

	}

	/**
	 * Equivalent of Spring Boot 3's own condition, whose annotation cannot be referenced
	 * here.
	 */
	static final class EnabledInBoot3 implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			Environment environment = context.getEnvironment();
			boolean others = environment.getProperty("management.health.defaults.enabled", Boolean.class, true);
			return environment.getProperty("management.health.dblock.enabled", Boolean.class, others);
		}

	}

}
