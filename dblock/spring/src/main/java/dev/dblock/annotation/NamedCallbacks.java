package dev.dblock.annotation;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.util.ClassUtils;

/**
 * The initialization and destruction methods of a bean that its definition names or that
 * Spring infers.
 */
final class NamedCallbacks {

	private NamedCallbacks() {
	}

	static Set<String> of(BeanDefinition definition, Class<?> type) {
		Set<String> names = new LinkedHashSet<>();
		if (definition instanceof AbstractBeanDefinition named) {
			addAll(names, named.getInitMethodNames());
			// Spring does not call destruction methods of prototypes
			if (!definition.isPrototype()) {
				addAll(names, named.getDestroyMethodNames());
				if (names.remove(AbstractBeanDefinition.INFER_METHOD)
						|| named.getDestroyMethodNames() == null && AutoCloseable.class.isAssignableFrom(type)) {
					addInferred(names, type);
				}
			}
		}
		return names;
	}

	private static void addAll(Set<String> names, String @Nullable [] added) {
		if (added != null) {
			names.addAll(Arrays.asList(added));
		}
	}

	private static void addInferred(Set<String> names, Class<?> type) {
		if (!DisposableBean.class.isAssignableFrom(type)) {
			names.add(ClassUtils.hasMethod(type, "close") ? "close" : "shutdown");
		}
	}

}
