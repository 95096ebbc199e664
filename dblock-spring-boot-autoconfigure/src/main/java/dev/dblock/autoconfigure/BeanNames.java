package dev.dblock.autoconfigure;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Finds the name of a bean for an error message. Ordered access to beans does not provide
 * their names, so they are looked up only after a failure.
 */
final class BeanNames {

	private BeanNames() {
	}

	/**
	 * Describe a bean.
	 * @param type the type under which the application declares the bean
	 * @param bean the bean; all beans of the type exist
	 * @param beans the factory of the bean
	 */
	static String describe(Class<?> type, Object bean, ListableBeanFactory beans) {
		return BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, type)
			.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() == bean)
			.findFirst()
			.map((entry) -> "The %s bean '%s'".formatted(type.getSimpleName(), entry.getKey()))
			// The rest of a lambda's class name differs from one start to the next
			.orElseGet(() -> "A %s bean of %s".formatted(type.getSimpleName(),
					bean.getClass().getName().replaceFirst("\\$\\$.*", "")));
	}

}
