package dev.dblock.annotation;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Tells what a test put in the place of a bean, by hand and so without a proxy. Neither
 * Spring's test framework nor Mockito need be there.
 */
final class TestDoubles {

	private static final String OVERRIDE = "org.springframework.test.context.bean.override.BeanOverride";

	private static final String MOCKITO = "org.mockito.Mockito";

	private TestDoubles() {
	}

	/**
	 * Whether a definition stands for a bean that a field of a test overrides.
	 */
	static boolean overrides(BeanDefinition definition) {
		AnnotatedElement field = (definition instanceof RootBeanDefinition root) ? root.getQualifiedElement() : null;
		return field != null && MergedAnnotations.from(field).isPresent(OVERRIDE);
	}

	/**
	 * Whether a bean was made by Mockito.
	 */
	static boolean isMock(@Nullable Object instance) {
		ClassLoader classLoader = (instance != null) ? instance.getClass().getClassLoader() : null;
		if (classLoader == null || !ClassUtils.isPresent(MOCKITO, classLoader)) {
			return false;
		}
		Method find = ClassUtils.getMethod(ClassUtils.resolveClassName(MOCKITO, classLoader), "mockingDetails",
				Object.class);
		Method isMock = ClassUtils.getMethod(find.getReturnType(), "isMock");
		return Boolean.TRUE
			.equals(ReflectionUtils.invokeMethod(isMock, ReflectionUtils.invokeMethod(find, null, instance)));
	}

}
