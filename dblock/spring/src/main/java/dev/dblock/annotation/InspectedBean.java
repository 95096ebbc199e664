package dev.dblock.annotation;

import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;

/**
 * A bean as far as it is known without creating it.
 *
 * @param name the bean's name
 * @param type the class behind its proxies
 * @param instance the bean itself, if it exists already
 * @param callbacks the names of its initialization and destruction methods, if it can
 * have locked methods
 */
public record InspectedBean(String name, Class<?> type, @Nullable Object instance, Set<String> callbacks) {

	InspectedBean(String name, Class<?> type, @Nullable Object instance) {
		this(name, type, instance, Set.of());
	}

	/**
	 * Return whether the proxy is, or will be, a subclass.
	 */
	boolean isProxiedBySubclass(ProxyRules rules) {
		return (this.instance != null) ? !AopUtils.isJdkDynamicProxy(this.instance)
				: rules.isBySubclass(this.name, this.type);
	}

	/**
	 * Return whether the proxy can override the package-private methods of a class: the
	 * virtual machine separates packages of the same name in different class loaders.
	 */
	boolean isProxiedInPackageOf(Class<?> declaring) {
		Class<?> proxy = (this.instance != null) ? this.instance.getClass() : this.type;
		return isInPackageOf(declaring, this.type) && isInPackageOf(declaring, proxy);
	}

	private static boolean isInPackageOf(Class<?> declaring, Class<?> type) {
		return declaring.getPackageName().equals(type.getPackageName())
				&& declaring.getClassLoader() == type.getClassLoader();
	}

	/**
	 * Return whether the bean exists and is certain not to be advised with a lock.
	 */
	boolean isUnlocked() {
		if (advisors().anyMatch(DistributedLockAdvisor.class::isInstance)) {
			return false;
		}
		Object current = this.instance;
		while (current instanceof Advised) {
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return current != null && !(current instanceof SpringProxy);
	}

	/**
	 * Whether the bean was created by Mockito.
	 * @return whether it was
	 */
	public boolean isMock() {
		return TestDoubles.isMock(this.instance);
	}

	/**
	 * Return the advisors of all proxies of the bean, the outermost first, if the bean
	 * exists.
	 */
	Stream<Advisor> advisors() {
		return Stream.iterate(this.instance, Advised.class::isInstance, AopProxyUtils::getSingletonTarget)
			.flatMap((proxy) -> Stream.of(((Advised) proxy).getAdvisors()));
	}

}
