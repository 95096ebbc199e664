package dev.dblock.autoconfigure;

import java.util.Objects;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.AdvisorInfrastructure;
import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.engine.LockEngine;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Auto-configuration for methods with {@link DistributedLock @DistributedLock}. It has no
 * condition: without a lock engine, a call of a locked method must be rejected, not run
 * unlocked.
 */
@AutoConfiguration(after = { DblockAutoConfiguration.class, AopAutoConfiguration.class })
@Import(DblockAopAutoConfiguration.InfrastructureRegistrar.class)
public final class DblockAopAutoConfiguration {

	private static final String ADVISOR = "dblockAdvisor";

	// The order is read from the environment, because reading it from the properties bean
	// would create that bean early
	@Bean(ADVISOR)
	@Conditional(OnMissingAdvisor.class)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockAdvisor dblockAdvisor(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<LockEngine> engine, Environment environment) {
		int order = Binder.get(environment)
			.bind("dblock.advisor-order", Integer.class)
			.orElse(DistributedLockAdvisor.DEFAULT_ORDER);
		return new DistributedLockAdvisor(beanFactory, engine, order);
	}

	/**
	 * Matches unless the application declares an advisor. A child context gets its own
	 * advisor, which hides that of its parent, because it uses its own placeholders and
	 * its own engine.
	 */
	static final class OnMissingAdvisor implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
			return Stream
				.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, DistributedLockAdvisor.class, true,
						false))
				.allMatch((name) -> name.equals(ADVISOR) && !beans.containsLocalBean(name));
		}

	}

	/**
	 * Ensures that beans are proxied and checked, even with
	 * {@code spring.aop.auto=false}. Follows Spring Boot's rule for class-based proxies.
	 */
	static final class InfrastructureRegistrar implements ImportBeanDefinitionRegistrar {

		private final Environment environment;

		InfrastructureRegistrar(Environment environment) {
			this.environment = environment;
		}

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AdvisorInfrastructure.register(registry,
					this.environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
		}

	}

}
