package dev.dblock.annotation.name;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.springframework.core.KotlinDetector;

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
