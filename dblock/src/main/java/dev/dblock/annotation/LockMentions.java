package dev.dblock.annotation;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;
import dev.dblock.job.JobPolicy;

import org.springframework.core.annotation.MergedAnnotations;

/**
 * Determines whether a class can have locked methods, or jobs, at all: whether the
 * annotation, or an annotation composed with it, is present on the class, its methods or
 * its supertypes. Searching each method of each bean, with all methods that it overrides,
 * would noticeably slow down start-up.
 */
final class LockMentions {

	private static final Mentions LOCKS = new Mentions(List.of(DistributedLock.class, DistributedLocks.class));

	private static final Mentions POLICIES = new Mentions(List.of(JobPolicy.class));

	private LockMentions() {
	}

	static boolean in(Class<?> type) {
		return isInspected(type) && LOCKS.get(type);
	}

	/**
	 * Return whether a class can have a {@link JobPolicy @JobPolicy}.
	 */
	static boolean ofPolicyIn(Class<?> type) {
		return isInspected(type) && POLICIES.get(type);
	}

	private static boolean isInspected(Class<?> type) {
		return !type.getName().startsWith("java.");
	}

	/**
	 * Whether each class mentions certain annotations.
	 */
	private static final class Mentions extends ClassValue<Boolean> {

		private final List<Class<? extends Annotation>> wanted;

		private final ClassValue<Boolean> annotations = new ClassValue<>() {

			@Override
			protected Boolean computeValue(Class<?> type) {
				return Mentions.this.wanted.contains(type) || Mentions.this.wanted.stream()
					.anyMatch((each) -> MergedAnnotations.from(type).isPresent(each));
			}

		};

		Mentions(List<Class<? extends Annotation>> wanted) {
			this.wanted = wanted;
		}

		@Override
		protected Boolean computeValue(Class<?> type) {
			return inherited(type).anyMatch((each) -> isInspected(each) && get(each)) || isOn(type);
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

}
