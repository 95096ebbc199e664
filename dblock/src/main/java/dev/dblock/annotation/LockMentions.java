package dev.dblock.annotation;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;

import org.springframework.core.annotation.MergedAnnotations;

/**
 * Determines whether a class can have locked methods at all: whether the annotation, or
 * an annotation composed with it, is present on the class, its methods or its supertypes.
 * Searching each method of each bean, with all methods that it overrides, would
 * noticeably slow down start-up.
 */
final class LockMentions {

	private static final ClassValue<Boolean> TYPES = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return inherited(type).anyMatch(LockMentions::in) || isOn(type);
		}

	};

	private static final ClassValue<Boolean> ANNOTATIONS = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return type == DistributedLock.class || type == DistributedLocks.class
					|| MergedAnnotations.from(type).isPresent(DistributedLock.class);
		}

	};

	private LockMentions() {
	}

	static boolean in(Class<?> type) {
		return !type.getName().startsWith("java.") && TYPES.get(type);
	}

	private static Stream<Class<?>> inherited(Class<?> type) {
		return Stream.concat(Stream.ofNullable(type.getSuperclass()), Arrays.stream(type.getInterfaces()));
	}

	private static boolean isOn(Class<?> type) {
		try {
			return isMadeOf(type) || Arrays.stream(type.getDeclaredMethods()).anyMatch(LockMentions::isMadeOf);
		}
		catch (LinkageError ex) {
			// Refers to an absent library, which the full search handles
			return true;
		}
	}

	private static boolean isMadeOf(AnnotatedElement element) {
		return Arrays.stream(element.getDeclaredAnnotations())
			.map(Annotation::annotationType)
			.anyMatch(ANNOTATIONS::get);
	}

}
