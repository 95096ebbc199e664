package dev.dblock.annotation;

import dev.dblock.execution.PendingTypes;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers hints for the result types that are looked up by name. A result of a type
 * that is not found would be treated as completed work.
 */
final class AnnotationRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		ReflectionHints reflection = hints.reflection();
		reflection.registerTypeIfPresent(classLoader, PendingTypes.RESPONSE, MemberCategory.INVOKE_PUBLIC_METHODS);
		reflection.registerTypeIfPresent(classLoader, PendingTypes.REACTOR);
		PendingTypes.OPTIONAL.forEach((name) -> reflection.registerTypeIfPresent(classLoader, name));
	}

}
