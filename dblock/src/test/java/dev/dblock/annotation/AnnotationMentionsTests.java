package dev.dblock.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.util.ArrayList;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AnnotationMentions}.
 */
class AnnotationMentionsTests {

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnClass.class, OnInterface.class, Inherits.class, Implements.class,
			OwnAnnotation.class, Repeated.class, OwnRepeated.class })
	void annotationIsFoundWhereverItMayBeDeclared(Class<?> type) {
		assertThat(AnnotationMentions.OF_LOCKS.in(type)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, ArrayList.class, Object.class, AnnotationMentions.class })
	void othersArePassedBy(Class<?> type) {
		assertThat(AnnotationMentions.OF_LOCKS.in(type)).isFalse();
	}

	@Test
	void policiesOfJobsAreFoundByThemselves() {
		AnnotationMentions policies = new AnnotationMentions(JobPolicy.class.getName());
		assertThat(policies.in(WithPolicy.class)).isTrue();
		assertThat(policies.in(InheritsPolicy.class)).isTrue();
		assertThat(AnnotationMentions.OF_LOCKS.in(InheritsPolicy.class)).isFalse();
		assertThat(policies.in(OnMethod.class)).isFalse();
		assertThat(policies.in(Object.class)).isFalse();
	}

	static class WithPolicy {

		@OwnPolicy
		void run() {
		}

	}

	static class InheritsPolicy extends WithPolicy {

	}

	@JobPolicy
	@Retention(RetentionPolicy.RUNTIME)
	@interface OwnPolicy {

	}

	@Test
	void proxyHasWhatItsInterfaceHas() {
		Object proxy = Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { OnInterface.class },
				(self, method, arguments) -> null);
		assertThat(AnnotationMentions.OF_LOCKS.in(proxy.getClass())).isTrue();
	}

	static class OnMethod {

		@DistributedLock("lock")
		private void run() {
		}

	}

	@DistributedLock("lock")
	static class OnClass {

	}

	interface OnInterface {

		@DistributedLock("lock")
		void run();

	}

	static class Inherits extends OnMethod {

	}

	abstract static class Implements implements OnInterface {

	}

	static class Repeated {

		@DistributedLock("lock")
		@DistributedLock("other")
		void run() {
		}

	}

	static class OwnRepeated {

		@Both
		void run() {
		}

	}

	@DistributedLock("lock")
	@DistributedLock("other")
	@Retention(RetentionPolicy.RUNTIME)
	@interface Both {

	}

	static class OwnAnnotation {

		@Nightly
		public void run() {
		}

	}

	@DistributedLock("lock")
	@Retention(RetentionPolicy.RUNTIME)
	@interface Nightly {

	}

	static class Plain {

		@Deprecated
		public void run() {
		}

	}

}
