package dev.dblock.annotation.name;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.dblock.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * A locked method in the context of an application class.
 *
 * @param method the most specific method, never a bridge method
 * @param userClass the application's class, never a proxy class
 */
public record LockedMethod(Method method, Class<?> userClass) {

	/**
	 * Return the number of parameters that a method declares. The compiler of Kotlin adds
	 * one to a suspending function.
	 */
	public static int parameterCount(Method method) {
		return method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
	}

	/**
	 * Return the method as it is declared where the annotation is: the method itself, or
	 * that of an interface or a superclass.
	 */
	Method annotated() {
		Object source = source(this.method);
		source = (source != null) ? source : source(this.userClass);
		if (source instanceof Class<?> type) {
			return Arrays.stream(type.getMethods()).filter(this::implementsOrOverrides).findFirst().orElse(this.method);
		}
		return (source != null) ? (Method) source : this.method;
	}

	private boolean implementsOrOverrides(Method other) {
		Class<?>[] types = this.method.getParameterTypes();
		return other.getName().equals(this.method.getName()) && other.getParameterCount() == types.length
				&& IntStream.range(0, types.length)
					.allMatch((i) -> ResolvableType.forMethodParameter(other, i, this.userClass).toClass() == types[i]);
	}

	private static @Nullable Object source(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).get(DistributedLock.class).getSource();
	}

	/**
	 * Return class and method as they are stored with the lock.
	 */
	public String path() {
		return this.userClass.getName() + "#" + this.method.getName();
	}

	/**
	 * Return class, method and parameter types for messages.
	 */
	public String describe() {
		return path() + Arrays.stream(this.method.getParameterTypes())
			.limit(parameterCount(this.method))
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", "(", ")"));
	}

}
