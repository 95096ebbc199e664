package dev.dblock.autoconfigure;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.SingletonBeanRegistry;

/**
 * Finds the name of a bean for an error message. Ordered access to beans does not provide
 * their names, so they are looked up only after a failure. The lookup creates no bean.
 */
final class BeanNames {

	private BeanNames() {
	}

	/**
	 * Describe a bean.
	 * @param type the type under which the application declares the bean
	 * @param bean the bean, which exists
	 * @param beans the factory of the bean
	 */
	static String describe(Class<?> type, Object bean, ListableBeanFactory beans) {
		String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false);
		return Arrays.stream(names)
			.filter((name) -> names.length == 1 || isSame(name, bean, beans))
			.findFirst()
			.map((name) -> "The %s bean '%s'".formatted(type.getSimpleName(), name))
			.orElseGet(() -> "A %s bean of %s".formatted(type.getSimpleName(), writtenIn(bean)));
	}

	private static boolean isSame(String name, Object bean, @Nullable BeanFactory beans) {
		if (beans instanceof SingletonBeanRegistry created && created.containsSingleton(name)) {
			return created.getSingleton(name) == bean;
		}
		return beans instanceof HierarchicalBeanFactory child && isSame(name, bean, child.getParentBeanFactory());
	}

	// The rest of a lambda's class name differs from one start to the next
	private static String writtenIn(Object bean) {
		return bean.getClass().getName().replaceFirst("\\$\\$.*", "");
	}

}
