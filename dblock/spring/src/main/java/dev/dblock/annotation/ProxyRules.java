package dev.dblock.annotation;

import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.aop.framework.autoproxy.AbstractAdvisorAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Conventions;
import org.springframework.util.ClassUtils;

/**
 * Determines how Spring creates the proxy of a class, and whether it can.
 */
final class ProxyRules {

	// Set by @Proxyable. The constant is new in Spring Framework 7
	private static final String EXPOSED_INTERFACES = Conventions.getQualifiedAttributeName(AutoProxyUtils.class,
			"exposedInterfaces");

	private final ConfigurableListableBeanFactory beans;

	ProxyRules(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Return whether the proxy is a subclass, rather than a proxy of the interfaces only.
	 * @param name the name of the bean, whose definition can override the auto-proxy
	 * creator; {@code null} if unknown
	 * @param type the class of the bean
	 */
	boolean isBySubclass(@Nullable String name, Class<?> type) {
		if (type.isInterface() || Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type)) {
			return false;
		}
		if (AutoProxyUtils.shouldProxyTargetClass(this.beans, name)) {
			return true;
		}
		Object exposed = (name != null && this.beans.containsBeanDefinition(name))
				? this.beans.getBeanDefinition(name).getAttribute(EXPOSED_INTERFACES) : null;
		if (exposed != null) {
			boolean all = exposed instanceof Class<?>[] interfaces && interfaces.length == 0;
			return all && new Interfaces().hasNone(type);
		}
		Object creator = this.beans.getSingleton(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME);
		boolean wanted = creator instanceof ProxyConfig config && config.isProxyTargetClass();
		return wanted || new Interfaces().hasNone(type);
	}

	/**
	 * Return the reason why a class cannot be proxied.
	 * @param name the name of the bean; {@code null} if unknown
	 * @param type the class of the bean
	 * @return the reason, or {@code null} if it can be proxied
	 */
	@Nullable String obstacle(@Nullable String name, Class<?> type) {
		if (!isBySubclass(name, type)) {
			return null;
		}
		if (Modifier.isFinal(type.getModifiers())) {
			return "is final";
		}
		if (type.isSealed()) {
			return "is sealed";
		}
		boolean open = Arrays.stream(type.getDeclaredConstructors()).anyMatch(ProxyRules::isOpen);
		return open ? null : "has private constructors only";
	}

	/**
	 * Return how to fix that a bean has two advisors that lock it. Usually, two
	 * auto-proxy creators apply the same advisor.
	 */
	String remedyOfTwoAdvisors() {
		List<String> others = Stream
			.of(this.beans.getBeanNamesForType(AbstractAdvisorAutoProxyCreator.class, true, false))
			.filter((name) -> !name.equals(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME))
			.toList();
		return others.isEmpty() ? "declare a single DistributedLockAdvisor"
				: ("auto-proxy creators besides Spring's own create further proxies with all advisors ('%s'): remove"
						+ " them, or restrict them to their own advisors (usePrefix)")
					.formatted(String.join("', '", others));
	}

	private static boolean isOpen(Constructor<?> constructor) {
		return !Modifier.isPrivate(constructor.getModifiers());
	}

	/**
	 * Exposes Spring's own selection of the interfaces that a proxy can implement.
	 */
	private static final class Interfaces extends ProxyProcessorSupport {

		private static final long serialVersionUID = 1L;

		boolean hasNone(Class<?> type) {
			ProxyFactory factory = new ProxyFactory();
			evaluateProxyInterfaces(type, factory);
			return factory.isProxyTargetClass();
		}

	}

}
