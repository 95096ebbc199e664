package dev.dblock.annotation.invocation;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * The lock annotations of a method or a class, whether repeated, inherited, or
 * meta-annotations of the application's own annotations.
 *
 * @param locks the annotations, merged with the annotations that they are present on
 * @param empty whether a container annotation without locks is present
 * @param alsoOfClass whether the annotations of the class apply in addition to those of
 * the method
 * @param contradiction Spring's message if the attributes contradict each other, so that
 * none of the annotations can be read
 */
public record LockAnnotations(List<DistributedLock> locks, boolean empty, boolean alsoOfClass,
		@Nullable String contradiction) {

	static final LockAnnotations NONE = new LockAnnotations(List.of(), false, false, null);

	/**
	 * Return the annotations of a method or a class. The nearest declaration replaces
	 * those that it overrides or inherits.
	 */
	static LockAnnotations of(AnnotatedElement element) {
		try {
			return read(element);
		}
		catch (AnnotationConfigurationException ex) {
			return new LockAnnotations(List.of(), false, false, String.valueOf(ex.getMessage()));
		}
	}

	private static LockAnnotations read(AnnotatedElement element) {
		List<MergedAnnotation<DistributedLock>> locks = find(element, DistributedLock.class,
				RepeatableContainers.standardRepeatables());
		List<MergedAnnotation<DistributedLocks>> lists = find(element, DistributedLocks.class,
				RepeatableContainers.none());
		int nearest = IntStream.concat(distances(locks), distances(lists)).min().orElse(0);
		List<MergedAnnotation<DistributedLocks>> nearestLists = on(nearest, lists).toList();
		return new LockAnnotations(on(nearest, locks).map(MergedAnnotation::synthesize).toList(),
				nearestLists.stream().anyMatch(LockAnnotations::isEmpty),
				nearestLists.stream().anyMatch((list) -> list.getBoolean("alsoOfClass")), null);
	}

	/**
	 * Return the annotations of the first candidate that has any.
	 */
	static LockAnnotations first(AnnotatedElement... candidates) {
		return Stream.of(candidates)
			.distinct()
			.map(LockAnnotations::of)
			.filter(LockAnnotations::arePresent)
			.findFirst()
			.orElse(NONE);
	}

	public static boolean arePresent(AnnotatedElement element) {
		return of(element).arePresent();
	}

	boolean arePresent() {
		return !this.locks.isEmpty() || this.empty || this.contradiction != null;
	}

	private static boolean isEmpty(MergedAnnotation<DistributedLocks> list) {
		return list.getAnnotationArray(MergedAnnotation.VALUE, DistributedLock.class).length == 0;
	}

	private static <A extends Annotation> List<MergedAnnotation<A>> find(AnnotatedElement element, Class<A> type,
			RepeatableContainers containers) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY, containers).stream(type).toList();
	}

	private static <A extends Annotation> IntStream distances(List<MergedAnnotation<A>> annotations) {
		return annotations.stream().mapToInt(MergedAnnotation::getAggregateIndex);
	}

	private static <A extends Annotation> Stream<MergedAnnotation<A>> on(int distance,
			List<MergedAnnotation<A>> annotations) {
		return annotations.stream().filter((annotation) -> annotation.getAggregateIndex() == distance);
	}

	public static boolean isScheduled(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(Scheduled.class);
	}

}
