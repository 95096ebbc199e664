package dev.dblock.interceptor;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;

import org.springframework.core.annotation.MergedAnnotations;

/**
 * Whether a class can have locked methods at all: whether the annotation, or one that is
 * made with it, stands anywhere on the class, on its methods or on what it inherits from.
 * Looking for it on each method of each bean, with all that each of them overrides, would
 * take a good part of an application's start.
 */
final class LockMentions {

	private final ClassValue<Boolean> types = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return inherited(type).anyMatch(LockMentions.this::in) || isOn(type);
		}

	};

	private final ClassValue<Boolean> annotations = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return type == DistributedLock.class || type == DistributedLocks.class
					|| MergedAnnotations.from(type).isPresent(DistributedLock.class);
		}

	};

	boolean in(Class<?> type) {
		return !type.getName().startsWith("java.") && this.types.get(type);
	}

	private static Stream<Class<?>> inherited(Class<?> type) {
		return Stream.concat(Stream.ofNullable(type.getSuperclass()), Arrays.stream(type.getInterfaces()));
	}

	private boolean isOn(Class<?> type) {
		try {
			return isMadeOf(type) || Arrays.stream(type.getDeclaredMethods()).anyMatch(this::isMadeOf);
		}
		catch (LinkageError ex) {
			// Refers to an absent library; whoever looks closer knows what to do
			return true;
		}
	}

	private boolean isMadeOf(AnnotatedElement element) {
		return Arrays.stream(element.getDeclaredAnnotations())
			.map(Annotation::annotationType)
			.anyMatch(this.annotations::get);
	}

}
