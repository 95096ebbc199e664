package dev.dblock.autoconfigure;

import java.util.Objects;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockEngine;
import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.annotation.LifecycleMethodChecker;
import dev.dblock.annotation.LockDeclarationChecker;

import org.springframework.aop.config.AopConfigUtils;
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
 * Locks methods that have {@link DistributedLock @DistributedLock}. It depends on no
 * condition: a locked method in an application without anything to lock with must be
 * refused, not run.
 */
@AutoConfiguration(after = { DblockAutoConfiguration.class, AopAutoConfiguration.class })
@Import(DblockAopAutoConfiguration.AutoProxyRegistrar.class)
public final class DblockAopAutoConfiguration {

	private static final String ADVISOR = "dblockAdvisor";

	// The order is read here and not from the properties' bean, which would be created
	// early for it
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

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockDeclarationChecker dblockDeclarationChecker(ConfigurableListableBeanFactory beanFactory,
			DistributedLockAdvisor advisor) {
		return new LockDeclarationChecker(beanFactory, advisor);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LifecycleMethodChecker dblockLifecycleMethodChecker(ConfigurableListableBeanFactory beanFactory) {
		return new LifecycleMethodChecker(beanFactory);
	}

	/**
	 * A child context has an advisor of its own, which hides that of its parent, since it
	 * goes by its own placeholders and its own engine; but not beside one that the
	 * application has made.
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
	 * Sees to it that there is something that makes proxies, also with
	 * {@code spring.aop.auto=false}, and by Boot's own rule.
	 */
	static final class AutoProxyRegistrar implements ImportBeanDefinitionRegistrar {

		private final Environment environment;

		AutoProxyRegistrar(Environment environment) {
			this.environment = environment;
		}

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
			if (this.environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true)) {
				AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
			}
		}

	}

}
