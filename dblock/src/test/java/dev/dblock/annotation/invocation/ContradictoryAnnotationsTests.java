package dev.dblock.annotation.invocation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.DistributedLocks;
import dev.dblock.annotation.LockingConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Tests of annotations that Spring refuses to read, because two of their attributes mean
 * the same and say different things.
 */
class ContradictoryAnnotationsTests {

	static Stream<Arguments> contradictions() {
		return Stream.of(arguments(Direct.class, DistributedLock.class),
				arguments(Repeated.class, DistributedLock.class), arguments(Listed.class, DistributedLock.class),
				arguments(Inherited.class, DistributedLock.class), arguments(OnClass.class, DistributedLock.class),
				arguments(WithAliases.class, Aliases.class));
	}

	@ParameterizedTest
	@MethodSource("contradictions")
	void areReportedLikeOtherProblems(Class<?> bean, Class<?> annotation) {
		assertThat(findings(bean)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + bean.getName() + "#run(): it is not clear which lock is meant: ")
			.contains("annotation [" + annotation.getName() + "]", "[nightly]", "[weekly]")
			.endsWith(". Correct that annotation: of attributes with the same meaning, such as name and value, set only"
					+ " one");
	}

	@Test
	void areReportedBesideOtherProblems() {
		assertThat(findings(Several.class)).hasSize(3)
			.anyMatch((finding) -> finding.contains("#run(): it is not clear"))
			.anyMatch((finding) -> finding.contains("#again(): it is not clear"))
			.anyMatch((finding) -> finding.contains("#last(): is final"));
	}

	@Test
	void areRefusedOfABeanThatComesLater() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
				LockingConfiguration.class)) {
			context.registerBean("late", Direct.class);
			assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> context.getBean("late"))
				.withStackTraceContaining(InvalidLockDeclarationException.class.getName())
				.withStackTraceContaining("#run(): it is not clear which lock is meant");
		}
	}

	@Test
	void sayingTheSameTwiceIsNone() {
		assertThat(findings(Twice.class)).isEmpty();
	}

	private static List<String> findings(Class<?> bean) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.registerBeanDefinition("bean", madeByTheApplication(bean));
			InvalidLockDeclarationException ex = catchThrowableOfType(InvalidLockDeclarationException.class,
					context::refresh);
			return (ex != null) ? ex.findings() : List.of();
		}
	}

	/**
	 * A bean whose class Spring does not look at, as if a method of a configuration had
	 * made it.
	 */
	private static RootBeanDefinition madeByTheApplication(Class<?> type) {
		RootBeanDefinition definition = new RootBeanDefinition();
		definition.setTargetType(type);
		definition.setInstanceSupplier(() -> BeanUtils.instantiateClass(type));
		return definition;
	}

	static class Direct {

		@DistributedLock(name = "nightly", value = "weekly")
		public void run() {
		}

	}

	static class Repeated {

		@DistributedLock("daily")
		@DistributedLock(name = "nightly", value = "weekly")
		public void run() {
		}

	}

	static class Listed {

		@DistributedLocks({ @DistributedLock(name = "nightly", value = "weekly") })
		public void run() {
		}

	}

	interface Job {

		@DistributedLock(name = "nightly", value = "weekly")
		void run();

	}

	static class Inherited implements Job {

		@Override
		public void run() {
		}

	}

	@DistributedLock(name = "nightly", value = "weekly")
	static class OnClass {

		public void run() {
		}

	}

	static class WithAliases {

		@Aliases(job = "nightly", lock = "weekly")
		public void run() {
		}

	}

	static class Several {

		@DistributedLock(name = "nightly", value = "weekly")
		public void run() {
		}

		@DistributedLock(name = "nightly", value = "monthly")
		public void again() {
		}

		@DistributedLock("last")
		public final void last() {
		}

	}

	static class Twice {

		@DistributedLock(name = "nightly", value = "nightly")
		public void run() {
		}

	}

	@DistributedLock
	@Retention(RetentionPolicy.RUNTIME)
	@interface Aliases {

		@AliasFor(annotation = DistributedLock.class, attribute = "name")
		String job() default "";

		@AliasFor(annotation = DistributedLock.class, attribute = "name")
		String lock() default "";

	}

}
