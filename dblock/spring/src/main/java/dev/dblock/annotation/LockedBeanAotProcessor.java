package dev.dblock.annotation;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Registers the reflection hints that a native image needs for the locked methods of a
 * bean: the methods themselves, their fallback methods, and the properties of their
 * arguments that expressions can read. The properties are registered at any depth. If an
 * expression calls a method of the JDK, the application has to register that method.
 */
final class LockedBeanAotProcessor implements BeanRegistrationAotProcessor {

	private final BindingReflectionHintsRegistrar properties = new BindingReflectionHintsRegistrar();

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		Class<?> beanClass = ClassUtils.getUserClass(bean.getBeanClass());
		List<AnnotatedElement> locked = Stream
			.concat(Stream.of(ClassUtils.getAllInterfacesForClass(beanClass)), Stream.of(beanClass))
			.<AnnotatedElement>flatMap(
					(type) -> Stream.concat(Stream.of(type), Stream.of(ReflectionUtils.getAllDeclaredMethods(type))))
			.filter(LockedBeanAotProcessor::isLocked)
			.distinct()
			.toList();
		return locked.isEmpty() ? null
				: (generation, code) -> registerHints(generation.getRuntimeHints().reflection(), locked);
	}

	private void registerHints(ReflectionHints hints, List<AnnotatedElement> locked) {
		for (AnnotatedElement element : locked) {
			if (element instanceof Method method) {
				registerMethod(hints, method);
			}
			else {
				registerType(hints, (Class<?>) element);
			}
		}
	}

	private static boolean isLocked(AnnotatedElement element) {
		return annotations(element).findAny().isPresent();
	}

	private void registerType(ReflectionHints hints, Class<?> type) {
		hints.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.INVOKE_DECLARED_METHODS);
		if (hasExpressions(type)) {
			Stream.of(type.getMethods(), type.getDeclaredMethods())
				.flatMap(Arrays::stream)
				.distinct()
				.filter(LockedBeanAotProcessor::isOpenToClassAnnotation)
				.forEach((method) -> registerArguments(hints, method));
		}
		registerFallbacks(hints, type, type);
	}

	private static boolean isOpenToClassAnnotation(Method method) {
		return method.getDeclaringClass() != Object.class && !method.isSynthetic()
				&& (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0;
	}

	private void registerMethod(ReflectionHints hints, Method method) {
		hints.registerMethod(method, ExecutableMode.INVOKE);
		if (hasExpressions(method)) {
			registerArguments(hints, method);
		}
		registerFallbacks(hints, method, method.getDeclaringClass());
	}

	private static void registerFallbacks(ReflectionHints hints, AnnotatedElement element, Class<?> type) {
		Set<String> fallbacks = annotations(element).map((annotation) -> annotation.getString("fallback"))
			.filter(StringUtils::hasText)
			.collect(Collectors.toSet());
		if (!fallbacks.isEmpty()) {
			Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type))
				.filter((candidate) -> fallbacks.contains(candidate.getName()))
				.forEach((candidate) -> hints.registerMethod(candidate, ExecutableMode.INVOKE));
		}
	}

	private void registerArguments(ReflectionHints hints, Method method) {
		this.properties.registerReflectionHints(hints, method.getGenericParameterTypes());
	}

	// A placeholder can resolve to text that contains an expression
	private static boolean hasExpressions(AnnotatedElement element) {
		return annotations(element).anyMatch((annotation) -> StringUtils.hasText(annotation.getString("condition"))
				|| Stream.of("#{", "${").anyMatch(annotation.getString("name")::contains));
	}

	private static Stream<MergedAnnotation<DistributedLock>> annotations(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(DistributedLock.class);
	}

}
