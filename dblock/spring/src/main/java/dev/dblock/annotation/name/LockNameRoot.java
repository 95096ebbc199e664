package dev.dblock.annotation.name;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * The {@code #root} object of expressions, with the same properties as in Spring's cache
 * annotations.
 */
record LockNameRoot(Method method, String methodName, @Nullable Object target, Class<?> targetClass,
		@Nullable Object[] args) {

	static final Set<String> PROPERTIES = Arrays.stream(LockNameRoot.class.getRecordComponents())
		.map(RecordComponent::getName)
		.collect(Collectors.toUnmodifiableSet());

	/**
	 * Registers a hint for the properties, which expressions read.
	 */
	static final class Hints implements RuntimeHintsRegistrar {

		@Override
		public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
			hints.reflection().registerType(LockNameRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		}

	}

}
