package dev.dblock.annotation;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;

/**
 * The beans beside a {@link DistributedLockAdvisor}.
 */
public final class AdvisorInfrastructure {

	private AdvisorInfrastructure() {
	}

	/**
	 * Register the beans that the advisor needs: an auto-proxy creator, if there is none,
	 * and the checks of locked methods at start-up.
	 * @param registry the bean definitions of the application context
	 * @param proxyTargetClass whether locked beans are proxied by subclasses, also where
	 * they have interfaces
	 */
	public static void register(BeanDefinitionRegistry registry, boolean proxyTargetClass) {
		AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		if (proxyTargetClass) {
			AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
		}
		register(registry, "dblockDeclarationChecker", LockDeclarationChecker.class);
		register(registry, "dblockLifecycleMethodChecker", LifecycleMethodChecker.class);
	}

	// Several configuration classes may request it
	private static void register(BeanDefinitionRegistry registry, String name, Class<?> type) {
		if (!registry.containsBeanDefinition(name)) {
			registry.registerBeanDefinition(name,
					BeanDefinitionBuilder.rootBeanDefinition(type)
						.setAutowireMode(AutowireCapableBeanFactory.AUTOWIRE_CONSTRUCTOR)
						.setRole(BeanDefinition.ROLE_INFRASTRUCTURE)
						.getBeanDefinition());
		}
	}

}
