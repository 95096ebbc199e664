package dev.dblock.annotation;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

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
			Optional<InspectedBean> factory = of(name, BeanFactory.FACTORY_BEAN_PREFIX + name, instance);
			if (factory.filter(BeanInspector::makesScopedProxy).isEmpty()) {
				factory.map(this::withCallbacks).ifPresent(beans::add);
				of(name, name, null).ifPresent(beans::add);
			}
		}
		else {
			of(name, name, instance).map(this::withCallbacks).ifPresent(beans::add);
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
		if (!this.beanFactory.containsBeanDefinition(bean.name())) {
			return bean;
		}
		BeanDefinition definition = this.beanFactory.getMergedBeanDefinition(bean.name());
		return new InspectedBean(bean.name(), bean.type(), bean.instance(), NamedCallbacks.of(definition, bean.type()));
	}

	private static boolean makesScopedProxy(InspectedBean factory) {
		return ScopedProxyFactoryBean.class.isAssignableFrom(factory.type());
	}

	private Optional<InspectedBean> of(String name, String lookup, @Nullable Object instance) {
		if (instance == null) {
			return Optional.ofNullable(this.beanFactory.getType(lookup, false))
				.map((type) -> new InspectedBean(name, ClassUtils.getUserClass(type), null));
		}
		Class<?> type = ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(instance));
		return Optional.of(new InspectedBean(name, type, instance));
	}

	private boolean isPassedBy(String name) {
		if (!this.beanFactory.containsBeanDefinition(name)) {
			return false;
		}
		BeanDefinition definition = this.beanFactory.getMergedBeanDefinition(name);
		return definition.isAbstract() || TestDoubles.overrides(definition);
	}

}
