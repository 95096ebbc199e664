package dev.dblock.annotation.name;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A method as a class of the application has it.
 *
 * @param method the most specific method, never a bridge
 * @param userClass the class that the application wrote, never that of a proxy
 */
public record LockedMethod(Method method, Class<?> userClass) {

	/**
	 * Class and method as they are stored with the lock.
	 */
	public String path() {
		return this.userClass.getName() + "#" + this.method.getName();
	}

	/**
	 * Class, method and parameters, for messages.
	 */
	public String describe() {
		return path() + Arrays.stream(this.method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", "(", ")"));
	}

}
