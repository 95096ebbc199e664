package dev.dblock.annotation;

import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.util.ClassUtils;

/**
 * Determines how Spring creates the proxy of a class, and whether it can.
 */
final class ProxyRules {

	private final SingletonBeanRegistry beans;

	ProxyRules(SingletonBeanRegistry beans) {
		this.beans = beans;
	}

	/**
	 * Return whether the proxy is a subclass, rather than a proxy of the interfaces only.
	 */
	boolean isBySubclass(Class<?> type) {
		if (type.isInterface() || Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type)) {
			return false;
		}
		Object creator = this.beans.getSingleton(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME);
		boolean wanted = creator instanceof ProxyConfig config && config.isProxyTargetClass();
		return wanted || new Interfaces().hasNone(type);
	}

	/**
	 * Return the reason why a class cannot be proxied.
	 * @return the reason, or {@code null} if it can be proxied
	 */
	@Nullable String obstacle(Class<?> type) {
		if (!isBySubclass(type)) {
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
