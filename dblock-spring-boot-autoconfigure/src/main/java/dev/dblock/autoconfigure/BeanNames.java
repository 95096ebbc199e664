package dev.dblock.autoconfigure;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.SingletonBeanRegistry;

/**
 * Finds out what a bean is called that is to blame: only then, since the names do not
 * come with the beans when these are asked for in their order. Something has gone wrong
 * by then, so that no bean is created for it.
 */
final class BeanNames {

	private BeanNames() {
	}

	/**
	 * Say which bean it is.
	 * @param type what the application has it for
	 * @param bean the bean, which exists
	 * @param beans where it comes from
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

	// The rest of a lambda's name differs from one start to the next
	private static String writtenIn(Object bean) {
		return bean.getClass().getName().replaceFirst("\\$\\$.*", "");
	}

}
