package dev.dblock.annotation;

import dev.dblock.engine.LockEngine;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.context.annotation.Role;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/**
 * The beans behind {@link EnableDistributedLocks @EnableDistributedLocks}.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class DistributedLockConfiguration implements ImportAware {

	private int order = DistributedLockAdvisor.DEFAULT_ORDER;

	@Override
	public void setImportMetadata(AnnotationMetadata metadata) {
		this.order = annotation(metadata).getInt("order");
	}

	private static MergedAnnotation<EnableDistributedLocks> annotation(AnnotationMetadata metadata) {
		return metadata.getAnnotations().get(EnableDistributedLocks.class);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	DistributedLockAdvisor dblockAdvisor(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<LockEngine> engine) {
		return new DistributedLockAdvisor(beanFactory, engine, this.order);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TransactionFollower dblockTransactionFollower(ObjectProvider<LockEngine> engines) {
		return new TransactionFollower(engines);
	}

	/**
	 * Imports the beans for jobs, if their module is there. Jobs use the annotations, and
	 * not the reverse, so they are known here by their name only.
	 */
	static final class Jobs implements ImportSelector {

		private static final String CONFIGURATION = "dev.dblock.job.method.JobConfiguration";

		@Override
		public String[] selectImports(AnnotationMetadata metadata) {
			return ClassUtils.isPresent(CONFIGURATION, Jobs.class.getClassLoader()) ? new String[] { CONFIGURATION }
					: new String[0];
		}

	}

	/**
	 * Ensures that beans are proxied and checked.
	 */
	static final class InfrastructureRegistrar implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AdvisorInfrastructure.register(registry, annotation(metadata).getBoolean("proxyTargetClass"));
		}

	}

}
