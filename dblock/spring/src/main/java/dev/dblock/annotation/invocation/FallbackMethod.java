package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import dev.dblock.LockRefusal;
import dev.dblock.LockUnavailableException;
import dev.dblock.annotation.name.LockedMethod;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Calls another method in place of a method whose lock is not available.
 *
 * @param method the method to call
 * @param takesException whether it takes the exception as an additional argument
 */
record FallbackMethod(Method method, boolean takesException) implements UnavailableHandler {

	/**
	 * Find the method by its name.
	 * @throws IllegalArgumentException if there is no such method, or it is not suitable,
	 * with the reason
	 */
	static FallbackMethod of(LockedMethod locked, String name) {
		List<Class<?>> wanted = parameters(locked.method(), locked.userClass());
		List<Class<?>> withException = new ArrayList<>(wanted);
		withException.add(LockUnavailableException.class);
		List<Method> named = named(locked, name);
		List<FallbackMethod> fitting = new ArrayList<>();
		for (Method candidate : named) {
			List<Class<?>> parameters = parameters(candidate, locked.userClass());
			if (parameters.equals(wanted) || parameters.equals(withException)) {
				fitting.add(new FallbackMethod(candidate, parameters.equals(withException)));
			}
		}
		if (fitting.isEmpty()) {
			throw new IllegalArgumentException(
					("fallback = \"%s\" names no method of %s with the same arguments%s; declare one with the"
							+ " parameters %s, optionally followed by a LockUnavailableException")
						.formatted(name, locked.userClass().getName(), found(named), describe(wanted)));
		}
		if (fitting.size() > 1) {
			throw new IllegalArgumentException(
					"fallback = \"%s\" matches two methods; rename the one that you do not mean".formatted(name));
		}
		FallbackMethod fallback = fitting.get(0);
		fallback.check(locked);
		ReflectionUtils.makeAccessible(fallback.method());
		return fallback;
	}

	private static List<Method> named(LockedMethod locked, String name) {
		return Arrays.stream(ReflectionUtils.getAllDeclaredMethods(locked.userClass()))
			.map((candidate) -> ClassUtils.getMostSpecificMethod(candidate, locked.userClass()))
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isSynthetic()
					&& !candidate.equals(locked.method()) && isCallable(candidate, locked.method()))
			.distinct()
			.toList();
	}

	/**
	 * Return whether a candidate can be called in place of a method. A suspending
	 * function can only be called by another.
	 */
	private static boolean isCallable(Method candidate, Method locked) {
		return !KotlinDetector.isSuspendingFunction(candidate) || KotlinDetector.isSuspendingFunction(locked);
	}

	private static List<Class<?>> parameters(Method method, Class<?> userClass) {
		List<Class<?>> parameters = new ArrayList<>();
		for (int i = 0; i < LockedMethod.parameterCount(method); i++) {
			parameters.add(ResolvableType.forMethodParameter(method, i, userClass).resolve(Object.class));
		}
		return parameters;
	}

	private static Class<?> returned(Method method, Class<?> userClass) {
		return SuspendedResult.type(method, userClass).resolve(Object.class);
	}

	private static String found(List<Method> named) {
		return named.isEmpty() ? ""
				: named.stream()
					.map((method) -> describe(parameters(method, method.getDeclaringClass())))
					.collect(Collectors.joining(" and ", ", only with ", ""));
	}

	private static String describe(List<Class<?>> parameters) {
		return parameters.stream().map(Class::getSimpleName).collect(Collectors.joining(", ", "(", ")"));
	}

	private void check(LockedMethod locked) {
		Class<?> wanted = returned(locked.method(), locked.userClass());
		Class<?> returned = returned(this.method, locked.userClass());
		if (!wanted.isAssignableFrom(returned)) {
			throw new IllegalArgumentException(
					"fallback = \"%s\" returns %s, but this method returns %s; make it".formatted(this.method.getName(),
							returned.getTypeName(), wanted.getTypeName()) + " return the same type");
		}
		for (Class<?> thrown : this.method.getExceptionTypes()) {
			if (!mayPass(thrown, locked.method())) {
				throw new IllegalArgumentException(
						"fallback = \"%s\" throws %s, which this method does not declare; declare it here, or throw another"
							.formatted(this.method.getName(), thrown.getName()));
			}
		}
		if (LockAnnotations.arePresent(this.method)) {
			throw new IllegalArgumentException(("fallback = \"%s\" names a method that is locked itself, but would be"
					+ " called without its lock; name one that needs no lock")
				.formatted(this.method.getName()));
		}
	}

	/**
	 * Return whether an exception reaches the caller unchanged. A proxy wraps checked
	 * exceptions that its method does not declare.
	 */
	private static boolean mayPass(Class<?> thrown, Method method) {
		return RuntimeException.class.isAssignableFrom(thrown) || Error.class.isAssignableFrom(thrown)
				|| ReflectionUtils.declaresException(method, thrown);
	}

	@Override
	public @Nullable Object answer(LockRefusal refusal, MethodInvocation invocation) throws Throwable {
		@Nullable Object[] given = invocation.getArguments();
		@Nullable Object[] arguments = Arrays.copyOf(given, this.method.getParameterCount());
		if (this.takesException) {
			arguments[LockedMethod.parameterCount(this.method) - 1] = refusal.toException();
		}
		if (KotlinDetector.isSuspendingFunction(this.method)) {
			arguments[arguments.length - 1] = given[given.length - 1];
		}
		return AopUtils.invokeJoinpointUsingReflection(target(invocation), this.method, arguments);
	}

	/**
	 * Return the object to invoke. The target behind an interface need not implement it,
	 * such as that of a repository; the method is then invoked on the proxy.
	 */
	private @Nullable Object target(MethodInvocation invocation) {
		Object target = invocation.getThis();
		return (!this.method.getDeclaringClass().isInstance(target)
				&& invocation instanceof ProxyMethodInvocation proxied) ? proxied.getProxy() : target;
	}

}
