package dev.dblock.annotation;

import dev.dblock.LockTemplate;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Role;

/**
 * The least that locked methods need.
 */
@Configuration(proxyBeanMethods = false)
@EnableAspectJAutoProxy(proxyTargetClass = true)
public class LockingConfiguration {

	@Bean
	RecordingEngine engine() {
		return new RecordingEngine();
	}

	@Bean
	LockTemplate lockTemplate(RecordingEngine engine) {
		return new DefaultLockTemplate(engine);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockAdvisor advisor(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<LockEngine> engine) {
		return new DistributedLockAdvisor(beanFactory, engine, DistributedLockAdvisor.DEFAULT_ORDER);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockDeclarationChecker checker(ConfigurableListableBeanFactory beanFactory, DistributedLockAdvisor advisor) {
		return new LockDeclarationChecker(beanFactory, advisor);
	}

}
