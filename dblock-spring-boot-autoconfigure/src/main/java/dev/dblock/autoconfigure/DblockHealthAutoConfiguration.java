package dev.dblock.autoconfigure;

import java.util.function.Supplier;

import dev.dblock.actuate.Boot3LockHealthIndicator;
import dev.dblock.actuate.LockHealth;
import dev.dblock.actuate.LockHealthIndicator;
import dev.dblock.engine.LockEngine;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
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
 * Auto-configuration for the health of the locks, in applications that report their
 * health.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class)
@ConditionalOnBean(LockEngine.class)
public final class DblockHealthAutoConfiguration {

	private static final String NAME = "dblockHealthIndicator";

	private static Supplier<LockHealth> health(ConfigurableListableBeanFactory beanFactory) {
		CreatedEngine engine = new CreatedEngine(beanFactory);
		return () -> LockHealth.of(engine.get(), DatabaseLockTemplates.createdEngines(beanFactory));
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnEnabledHealthIndicator("dblock")
	static class Boot4 {

		@Bean(NAME)
		@ConditionalOnMissingBean(name = NAME)
		LockHealthIndicator dblockHealthIndicator(ConfigurableListableBeanFactory beanFactory) {
			return new LockHealthIndicator(health(beanFactory));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { Boot3LockHealthIndicator.TYPE,
			"org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator" })
	@Conditional(EnabledInBoot3.class)
	static class Boot3 {

		@Bean(NAME)
		@ConditionalOnMissingBean(name = NAME)
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
