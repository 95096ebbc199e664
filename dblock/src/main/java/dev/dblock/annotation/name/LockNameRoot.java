package dev.dblock.annotation.name;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The {@code #root} object of expressions, with the same properties as in Spring's cache
 * annotations.
 */
public record LockNameRoot(Method method, String methodName, @Nullable Object target, Class<?> targetClass,
		@Nullable Object[] args) {

	static final Set<String> PROPERTIES = Arrays.stream(LockNameRoot.class.getRecordComponents())
		.map(RecordComponent::getName)
		.collect(Collectors.toUnmodifiableSet());

}
