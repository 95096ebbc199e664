package dev.dblock.job.schedule;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.Ordered;

/**
 * Registers the configurer of the jobs' scheduler after all other definitions:
 * configurers without an order share its order, and then the order of registration
 * counts.
 */
public final class JobSchedulingRegistrar implements BeanDefinitionRegistryPostProcessor, Ordered {

	private static final String CONFIGURER = "dblockJobSchedulingConfigurer";

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		if (!registry.containsBeanDefinition(CONFIGURER)) {
			RootBeanDefinition definition = new RootBeanDefinition(JobSchedulingConfigurer.class);
			definition.setAutowireMode(RootBeanDefinition.AUTOWIRE_CONSTRUCTOR);
			definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
			registry.registerBeanDefinition(CONFIGURER, definition);
		}
	}

}
