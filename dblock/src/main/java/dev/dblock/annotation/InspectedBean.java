package dev.dblock.annotation;

import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;

/**
 * A bean as far as it can be known without creating it.
 *
 * @param name the bean's name
 * @param type the class behind its proxies
 * @param instance the bean itself, if it was created already
 * @param callbacks the names of the methods that Spring calls at its beginning and its
 * end
 */
record InspectedBean(String name, Class<?> type, @Nullable Object instance, Set<String> callbacks) {

	InspectedBean(String name, Class<?> type, @Nullable Object instance) {
		this(name, type, instance, Set.of());
	}

	/**
	 * Whether the proxy is, or will be, a subclass.
	 */
	boolean isProxiedBySubclass(ProxyRules rules) {
		return (this.instance != null) ? !AopUtils.isJdkDynamicProxy(this.instance) : rules.isBySubclass(this.type);
	}

	/**
	 * Whether the bean was created and has no lock around it for certain.
	 */
	boolean isUnlocked() {
		Object current = this.instance;
		while (current instanceof Advised advised) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof DistributedLockAdvisor) {
					return false;
				}
			}
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return current != null && !(current instanceof SpringProxy);
	}

}
