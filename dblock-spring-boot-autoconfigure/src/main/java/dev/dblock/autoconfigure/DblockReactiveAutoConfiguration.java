package dev.dblock.autoconfigure;

import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.engine.LockEngine;
import dev.dblock.reactive.ReactiveLockTemplate;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;

/**
 * Auto-configuration for reactive code, in applications with Reactor.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class,
		afterName = { "org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
				"org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration" })
@ConditionalOnClass(Mono.class)
@ConditionalOnBean(LockEngine.class)
public final class DblockReactiveAutoConfiguration {

	// Lazy, because MongoDB is needed only if locks are used
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	ReactiveLockTemplate reactiveLockTemplate(LockEngine engine) {
		return new ReactiveLockTemplate(engine);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static JoiningOperators dblockJoiningOperators() {
		return new JoiningOperators();
	}

	// Ordered after the transaction advisor, which has the same order
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static Advisor dblockReactiveTransactionAdvisor(ConfigurableBeanFactory beanFactory) {
		return DistributedLockAdvisor.forReactiveTransactions(beanFactory::resolveEmbeddedValue);
	}

}
