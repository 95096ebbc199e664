package dev.dblock.autoconfigure;

import dev.dblock.LockEngine;
import dev.dblock.actuate.LockHealthIndicator;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * The health of the locks, in applications on Spring Boot 4 that tell their health.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class)
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnBean(LockEngine.class)
@ConditionalOnEnabledHealthIndicator("dblock")
public final class DblockHealthAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = "dblockHealthIndicator")
	LockHealthIndicator dblockHealthIndicator(ConfigurableListableBeanFactory beanFactory) {
		return new LockHealthIndicator(new CreatedEngine(beanFactory));
	}

}
