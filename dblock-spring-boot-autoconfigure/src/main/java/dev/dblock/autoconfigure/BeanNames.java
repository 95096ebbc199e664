package dev.dblock.autoconfigure;

import java.util.Arrays;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Finds out what a bean is called that is to blame: only then, since the names do not
 * come with the beans when these are asked for in their order.
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
		String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type);
		return Arrays.stream(names)
			.filter((name) -> names.length == 1 || isSame(name, bean, beans))
			.findFirst()
			.map((name) -> "The %s bean '%s'".formatted(type.getSimpleName(), name))
			.orElseGet(() -> "A %s bean of %s".formatted(type.getSimpleName(), writtenIn(bean)));
	}

	private static boolean isSame(String name, Object bean, ListableBeanFactory beans) {
		return beans.isSingleton(name) && beans.getBean(name) == bean;
	}

	// The rest of a lambda's name differs from one start to the next
	private static String writtenIn(Object bean) {
		return bean.getClass().getName().replaceFirst("\\$\\$.*", "");
	}

}
