package dev.dblock.annotation;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyFactoryBean;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Inspects the beans of a context without creating any: existing beans by their instance,
 * others by the type that Spring predicts. For a scoped bean, the target is inspected and
 * not the scoped proxy. For a factory bean, the product is inspected as well. For a
 * proxy, the interfaces that its target does not implement are inspected as well.
 */
public final class BeanInspector {

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Create an inspector.
	 * @param beanFactory the beans
	 */
	public BeanInspector(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Inspect all beans.
	 * @return the beans whose class is known
	 */
	public List<InspectedBean> inspect() {
		List<InspectedBean> beans = new ArrayList<>();
		for (Iterator<String> names = this.beanFactory.getBeanNamesIterator(); names.hasNext();) {
			String name = names.next();
			if (!isPassedBy(name)) {
				inspect(name, beans);
			}
		}
		return beans;
	}

	private void inspect(String name, List<InspectedBean> beans) {
		// For a bean that is being created, getSingleton would request an early reference
		Object instance = this.beanFactory.containsSingleton(name) ? this.beanFactory.getSingleton(name) : null;
		if (instance instanceof FactoryBean<?> || instance == null && this.beanFactory.isFactoryBean(name)) {
			InspectedBean factory = of(name, BeanFactory.FACTORY_BEAN_PREFIX + name, instance);
			if (factory == null || !makesScopedProxy(factory)) {
				if (factory != null) {
					beans.add(withCallbacks(factory));
				}
				InspectedBean product = of(name, name, null);
				if (product != null) {
					beans.add(product);
				}
			}
		}
		else {
			InspectedBean bean = of(name, name, instance);
			if (bean != null) {
				beans.add(withCallbacks(bean));
			}
			if (instance != null && Proxy.isProxyClass(instance.getClass())) {
				beans.addAll(unknownToTarget(name, instance));
			}
		}
	}

	/**
	 * Return the interfaces of a proxy that its target does not implement, as with the
	 * proxies of repositories.
	 */
	private static List<InspectedBean> unknownToTarget(String name, Object proxy) {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(proxy);
		return Arrays.stream(proxy.getClass().getInterfaces())
			.filter((type) -> !type.isAssignableFrom(targetClass))
			.map((type) -> new InspectedBean(name, type, proxy))
			.toList();
	}

	private InspectedBean withCallbacks(InspectedBean bean) {
		if (!AnnotationMentions.OF_LOCKS.in(bean.type()) || !this.beanFactory.containsBeanDefinition(bean.name())) {
			return bean;
		}
		BeanDefinition definition = this.beanFactory.getMergedBeanDefinition(bean.name());
		return new InspectedBean(bean.name(), bean.type(), bean.instance(), NamedCallbacks.of(definition, bean.type()));
	}

	private static boolean makesScopedProxy(InspectedBean factory) {
		return ScopedProxyFactoryBean.class.isAssignableFrom(factory.type());
	}

	private @Nullable InspectedBean of(String name, String lookup, @Nullable Object instance) {
		Class<?> type = (instance != null) ? AopProxyUtils.ultimateTargetClass(instance)
				: this.beanFactory.getType(lookup, false);
		return (type != null) ? new InspectedBean(name, ClassUtils.getUserClass(type), instance) : null;
	}

	private boolean isPassedBy(String name) {
		if (!this.beanFactory.containsBeanDefinition(name)) {
			return false;
		}
		BeanDefinition definition = this.beanFactory.getMergedBeanDefinition(name);
		return definition.isAbstract() || TestDoubles.overrides(definition);
	}

}
