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
 * Detects beans that a test has replaced and that therefore have no proxy. Neither
 * Spring's test framework nor Mockito need to be present.
 */
final class TestDoubles {

	private static final String OVERRIDE = "org.springframework.test.context.bean.override.BeanOverride";

	private static final String MOCKITO = "org.mockito.Mockito";

	private TestDoubles() {
	}

	/**
	 * Return whether a definition is that of a bean that a test's field overrides.
	 */
	static boolean overrides(BeanDefinition definition) {
		AnnotatedElement field = (definition instanceof RootBeanDefinition root) ? root.getQualifiedElement() : null;
		return field != null && MergedAnnotations.from(field).isPresent(OVERRIDE);
	}

	/**
	 * Return whether a bean was created by Mockito.
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
