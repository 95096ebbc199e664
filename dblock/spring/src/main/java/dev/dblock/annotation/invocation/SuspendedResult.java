package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;

import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.execution.PendingTypes;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;

/**
 * The declared result of a suspending function of Kotlin.
 *
 * @param type the declared type
 * @param nullable whether the function can return {@code null}
 */
record SuspendedResult(ResolvableType type, boolean nullable) {

	/**
	 * Return the declared result of a function.
	 * @throws IllegalArgumentException if such functions cannot be called here, with the
	 * reason
	 */
	static SuspendedResult of(LockedMethod method, PendingTypes types) {
		List<String> missing = types.missingForCoroutines();
		if (!missing.isEmpty()) {
			throw new IllegalArgumentException(
					("is a suspend function, but the application lacks a library with which Spring calls such functions"
							+ " through proxies; add the dependency %s")
						.formatted(String.join(" and ", missing)));
		}
		return new SuspendedResult(type(method.method(), method.userClass()),
				new MethodParameter(method.method(), -1).isOptional());
	}

	/**
	 * Return the declared type of the result. The compiler passes it on as that of the
	 * last parameter, a continuation.
	 */
	static ResolvableType type(Method method, Class<?> userClass) {
		return KotlinDetector.isSuspendingFunction(method)
				? ResolvableType.forMethodParameter(method, method.getParameterCount() - 1, userClass).getGeneric()
				: ResolvableType.forMethodReturnType(method, userClass);
	}

	Object skipped() {
		return Mono.justOrEmpty(empty());
	}

	@Nullable String skipUnsupportedReason() {
		boolean returnable = this.nullable || empty().isPresent() || resolved().getName().equals("kotlin.Unit");
		return returnable ? null
				: "a skipped call has nothing to return, because the function cannot return null; make its result nullable";
	}

	private Optional<Object> empty() {
		return Optional.ofNullable(BlockingInvocation.empty(resolved()));
	}

	private Class<?> resolved() {
		return this.type.resolve(Object.class);
	}

}
