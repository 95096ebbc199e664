package dev.dblock.annotation;

import dev.dblock.LastingTypes;
import dev.dblock.annotation.name.LockNameRoot;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * What expressions read of {@code #root}, and the types of results that are looked for by
 * name: one that is not found would be taken for a result whose work is over.
 */
final class AnnotationRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		ReflectionHints reflection = hints.reflection();
		reflection.registerType(LockNameRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		reflection.registerTypeIfPresent(classLoader, LastingTypes.RESPONSE, MemberCategory.INVOKE_PUBLIC_METHODS);
		reflection.registerTypeIfPresent(classLoader, LastingTypes.REACTOR);
		LastingTypes.OPTIONAL.forEach((name) -> reflection.registerTypeIfPresent(classLoader, name));
	}

}
