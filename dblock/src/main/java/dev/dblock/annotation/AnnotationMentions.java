package dev.dblock.annotation;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;

import org.springframework.core.annotation.MergedAnnotations;

/**
 * Determines whether a class can have methods with certain annotations at all: whether
 * one of the annotations, or an annotation composed with it, is present on the class, its
 * methods or its supertypes. Searching each method of each bean, with all methods that it
 * overrides, would noticeably slow down start-up.
 */
public final class AnnotationMentions {

	static final AnnotationMentions OF_LOCKS = new AnnotationMentions(
			List.of(DistributedLock.class, DistributedLocks.class));

	private final List<Class<? extends Annotation>> wanted;

	private final ClassValue<Boolean> annotations = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return AnnotationMentions.this.wanted.contains(type) || AnnotationMentions.this.wanted.stream()
				.anyMatch((each) -> MergedAnnotations.from(type).isPresent(each));
		}

	};

	private final ClassValue<Boolean> classes = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return inherited(type).anyMatch(AnnotationMentions.this::in) || isOn(type);
		}

	};

	/**
	 * Create a search.
	 * @param wanted the annotations
	 */
	public AnnotationMentions(List<Class<? extends Annotation>> wanted) {
		this.wanted = List.copyOf(wanted);
	}

	/**
	 * Return whether a class mentions one of the annotations.
	 * @param type the class
	 * @return whether it does
	 */
	public boolean in(Class<?> type) {
		return !type.getName().startsWith("java.") && this.classes.get(type);
	}

	private static Stream<Class<?>> inherited(Class<?> type) {
		return Stream.concat(Stream.ofNullable(type.getSuperclass()), Arrays.stream(type.getInterfaces()));
	}

	private boolean isOn(Class<?> type) {
		try {
			return isMadeOf(type) || Arrays.stream(type.getDeclaredMethods()).anyMatch(this::isMadeOf);
		}
		catch (LinkageError ex) {
			// Refers to an absent library, which the full search handles
			return true;
		}
	}

	private boolean isMadeOf(AnnotatedElement element) {
		return Arrays.stream(element.getDeclaredAnnotations())
			.map(Annotation::annotationType)
			.anyMatch(this.annotations::get);
	}

}
