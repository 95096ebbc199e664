package dev.dblock.annotation.name;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * What {@code #root} is in a name, with the properties that Spring's cache annotations
 * have as well.
 */
public record LockNameRoot(Method method, String methodName, @Nullable Object target, Class<?> targetClass,
		@Nullable Object[] args) {

	static final Set<String> PROPERTIES = Arrays.stream(LockNameRoot.class.getRecordComponents())
		.map(RecordComponent::getName)
		.collect(Collectors.toUnmodifiableSet());

}
