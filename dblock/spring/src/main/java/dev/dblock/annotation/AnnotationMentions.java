package dev.dblock.annotation;

import java.lang.annotation.Annotation;
import java.lang.annotation.Repeatable;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ReflectionUtils;

/**
 * Determines whether a class can have methods with certain annotations at all: whether
 * one of the annotations, or an annotation composed with it, is present on the class, its
 * methods or its supertypes. Searching each method of each bean, with all methods that it
 * overrides, would noticeably slow down start-up.
 */
public final class AnnotationMentions {

	static final AnnotationMentions OF_LOCKS = new AnnotationMentions(DistributedLock.class.getName(),
			DistributedLocks.class.getName());

	// Stands for the annotations of a class that refers to an absent library, which the
	// full search handles
	private static final Class<? extends Annotation> ANY = Annotation.class;

	/**
	 * Packages whose classes have none of the annotations that are searched for. Most
	 * beans are of Spring Boot.
	 */
	private static final List<String> PACKAGES_WITHOUT = List.of("java.", "org.springframework.aop.",
			"org.springframework.beans.", "org.springframework.boot.", "org.springframework.context.",
			"org.springframework.core.", "org.springframework.web.");

	// Common to all searches, so that the methods of a class are read once
	private static final ClassValue<Set<Class<? extends Annotation>>> mentioned = new ClassValue<>() {

		@Override
		protected Set<Class<? extends Annotation>> computeValue(Class<?> type) {
			Set<Class<? extends Annotation>> types = new HashSet<>();
			if (type.getSuperclass() != null) {
				types.addAll(mentionedBy(type.getSuperclass()));
			}
			for (Class<?> each : type.getInterfaces()) {
				types.addAll(mentionedBy(each));
			}
			try {
				addDeclared(type, types);
				for (Method method : type.getDeclaredMethods()) {
					addDeclared(method, types);
				}
			}
			catch (LinkageError ex) {
				types.add(ANY);
			}
			return Set.copyOf(types);
		}

	};

	private final List<String> wanted;

	private final ClassValue<Boolean> annotations = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return type == ANY || AnnotationMentions.this.wanted.contains(type.getName())
					|| AnnotationMentions.this.wanted.stream()
						.anyMatch((each) -> MergedAnnotations.from(type).isPresent(each));
		}

	};

	/**
	 * Create a search.
	 * @param wanted the names of the annotations, which may be absent
	 */
	public AnnotationMentions(String... wanted) {
		this.wanted = List.of(wanted);
	}

	/**
	 * Return whether a class mentions one of the annotations.
	 * @param type the class
	 * @return whether it does
	 */
	public boolean in(Class<?> type) {
		for (Class<? extends Annotation> each : mentionedBy(type)) {
			if (this.annotations.get(each)) {
				return true;
			}
		}
		return false;
	}

	private static Set<Class<? extends Annotation>> mentionedBy(Class<?> type) {
		return PACKAGES_WITHOUT.stream().anyMatch(type.getName()::startsWith) ? Set.of() : mentioned.get(type);
	}

	private static void addDeclared(AnnotatedElement element, Set<Class<? extends Annotation>> types) {
		for (Annotation annotation : element.getDeclaredAnnotations()) {
			types.add(annotation.annotationType());
			// The compiler replaces repeated annotations by their container
			Method value = ReflectionUtils.findMethod(annotation.annotationType(), MergedAnnotation.VALUE);
			Class<?> repeated = (value != null) ? value.getReturnType().getComponentType() : null;
			if (repeated != null && repeated.isAnnotationPresent(Repeatable.class)) {
				types.add(repeated.asSubclass(Annotation.class));
			}
		}
	}

}
