package dev.dblock.annotation;

import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InMemoryCompiler;
import dev.dblock.job.JobPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.support.ApplicationObjectSupport;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AnnotationMentions}.
 */
class AnnotationMentionsTests {

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnClass.class, OnInterface.class, Inherits.class, Implements.class,
			OwnAnnotation.class, Repeated.class, OwnRepeated.class, OwnRepeatable.class, ExtendsSpring.class })
	void annotationIsFoundWhereverItMayBeDeclared(Class<?> type) {
		assertThat(AnnotationMentions.OF_LOCKS.in(type)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, ArrayList.class, Object.class, ApplicationObjectSupport.class,
			AnnotationMentions.class })
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

	@Test
	void classThatRefersToAnAbsentLibraryMayHaveAny(@TempDir Path folder) throws Exception {
		Class<?> type = new InMemoryCompiler(folder).source("a.Absent", "package a; public class Absent { }")
			.source("a.Referring", "package a; public class Referring { public void use(Absent absent) { } }")
			.load("a.Referring");
		Files.delete(folder.resolve("classes/a/Absent.class"));
		assertThat(AnnotationMentions.OF_LOCKS.in(type)).isTrue();
		assertThat(new AnnotationMentions("a.Unknown").in(type)).isTrue();
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

	static class OwnRepeatable {

		@Account("from")
		@Account("to")
		void transfer() {
		}

	}

	@DistributedLock("account")
	@Repeatable(Accounts.class)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Account {

		String value();

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Accounts {

		Account[] value();

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

	static class ExtendsSpring extends ApplicationObjectSupport {

		@DistributedLock("a")
		void run() {
		}

	}

}
