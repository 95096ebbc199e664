package dev.dblock.autoconfigure;

import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.integration.DblockLockRegistry;
import dev.dblock.integration.DblockLockRegistry6;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Auto-configuration for a lock registry of Spring Integration, in applications that use
 * Spring Integration and have no registry of their own.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class,
		afterName = { "org.springframework.boot.integration.autoconfigure.IntegrationAutoConfiguration",
				"org.springframework.boot.autoconfigure.integration.IntegrationAutoConfiguration" })
@ConditionalOnClass(LockRegistry.class)
@ConditionalOnSingleCandidate(LockEngine.class)
@ConditionalOnMissingBean(LockRegistry.class)
public final class DblockIntegrationAutoConfiguration {

	private static final String DISTRIBUTED_LOCK = "org.springframework.integration.support.locks.DistributedLock";

	// Lazy, because an application without leader election and aggregators needs no locks
	// for them
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = DISTRIBUTED_LOCK)
	static class Integration7 {

		@Bean
		@Lazy
		DblockLockRegistry lockRegistry(LockEngine engine) {
			return new DblockLockRegistry(new DefaultLockTemplate(engine));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass(DISTRIBUTED_LOCK)
	static class Integration6 {

		@Bean
		@Lazy
		DblockLockRegistry6 lockRegistry(LockEngine engine) {
			return new DblockLockRegistry6(new DefaultLockTemplate(engine));
		}

	}

}
