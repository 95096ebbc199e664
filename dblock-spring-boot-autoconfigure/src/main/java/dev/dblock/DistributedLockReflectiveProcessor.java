package dev.dblock;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.SimpleReflectiveProcessor;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Says what a native image has to keep of locked methods: the methods themselves, which
 * are looked for by reflection, and what expressions can read of their arguments. The
 * latter are looked into as deep as their properties go; a method of the JDK's that an
 * expression calls is the application's to register.
 */
final class DistributedLockReflectiveProcessor extends SimpleReflectiveProcessor {

	private final BindingReflectionHintsRegistrar properties = new BindingReflectionHintsRegistrar();

	@Override
	protected void registerTypeHint(ReflectionHints hints, Class<?> type) {
		hints.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
		if (hasExpressions(type)) {
			Arrays.stream(type.getMethods())
				.filter((method) -> method.getDeclaringClass() != Object.class
						&& !Modifier.isStatic(method.getModifiers()))
				.forEach((method) -> registerArguments(hints, method));
		}
	}

	@Override
	protected void registerMethodHint(ReflectionHints hints, Method method) {
		super.registerMethodHint(hints, method);
		if (hasExpressions(method)) {
			registerArguments(hints, method);
		}
	}

	private void registerArguments(ReflectionHints hints, Method method) {
		this.properties.registerReflectionHints(hints, method.getGenericParameterTypes());
	}

	// A placeholder may stand for text with an expression in it
	private static boolean hasExpressions(AnnotatedElement element) {
		MergedAnnotation<DistributedLock> annotation = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
			.get(DistributedLock.class);
		return annotation.isPresent() && annotation.asMap()
			.values()
			.stream()
			.anyMatch((value) -> value instanceof String text && (text.contains("#") || text.contains("${")));
	}

}
