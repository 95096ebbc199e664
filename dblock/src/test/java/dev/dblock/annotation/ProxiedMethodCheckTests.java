package dev.dblock.annotation;

import java.nio.file.Path;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.CheckedBeans.FinalImplementation;
import dev.dblock.annotation.CheckedBeans.InterfaceProxies;
import dev.dblock.annotation.CheckedBeans.Task;
import dev.dblock.annotation.invocation.InMemoryCompiler;
import dev.dblock.annotation.invocation.RecordingEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.ApplicationObjectSupport;

import static dev.dblock.annotation.CheckedBeans.findings;
import static dev.dblock.annotation.CheckedBeans.start;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the check whether a proxy can lock a method.
 */
class ProxiedMethodCheckTests {

	private static final String HERE = ProxiedMethodCheckTests.class.getName() + "$";

	@Test
	void hiddenMethods() {
		assertThat(findings(Hidden.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE
						+ "Hidden#secret(): is private, so no proxy can lock it; make it neither private nor final",
				"bean 'bean', " + HERE
						+ "Hidden#last(): is final, so no proxy can lock it; make it neither private nor final",
				"bean 'bean', " + HERE
						+ "Hidden#ofClass(): is static, so no proxy can lock it; make it an instance method");
	}

	@Test
	void finalMethodUnderAnAnnotatedClass() {
		assertThat(findings(FinalMethod.class)).containsExactly("bean 'bean', " + HERE
				+ "FinalMethod#last(): is final, so no proxy can lock it; make it neither private nor final");
	}

	@Test
	void packagePrivateMethodOfAnAnnotatedClassInAnotherPackageIsLeftOut(@TempDir Path folder) throws Exception {
		Class<?> type = new InMemoryCompiler(folder).source("a.Parent", """
				package a;
				@dev.dblock.DistributedLock("parent")
				public class Parent {
					void run() { }
				}
				""").source("b.Child", "package b; public class Child extends a.Parent { }").load("b.Child");
		assertThat(findings(type)).isEmpty();
	}

	@Test
	void finalMethodThatAnAnnotatedClassInheritedIsLeftOut() {
		assertThat(findings(LockedApplicationObject.class)).isEmpty();
	}

	@Test
	void packagePrivateMethodOfAnotherPackage(@TempDir Path folder) throws Exception {
		Class<?> type = new InMemoryCompiler(folder).source("a.Parent", """
				package a;
				public class Parent {
					@dev.dblock.DistributedLock
					void run() { }
					@dev.dblock.DistributedLock
					protected void open() { }
				}
				""").source("b.Child", "package b; public class Child extends a.Parent { }").load("b.Child");
		assertThat(findings(type)).containsExactly("bean 'bean', b.Child#run(): is"
				+ " package-private in another package, so no proxy can lock it; make it protected or public");
		assertThat(findings(type.getSuperclass())).isEmpty();
	}

	@Test
	void packagePrivateMethodOfASuperclassInAnotherClassLoader(@TempDir Path folder) throws Exception {
		Class<?> parent = parent(folder);
		Class<?> type = new InMemoryCompiler(folder.resolve("child"))
			.source("a.Child", "package a; public class Child extends Parent { }")
			.load("a.Child", parent.getClassLoader());
		assertThat(findings(type)).containsExactly("bean 'bean', a.Child#run(): is package-private in another package"
				+ " of the same name, that of another class loader, so no proxy can lock it; make it protected or"
				+ " public");
		assertThat(findings(parent)).isEmpty();
		assertThat(start((context) -> {
			context.setClassLoader(type.getClassLoader());
			context.registerBean("bean", type, CheckedBeans::lazy);
		}).findings()).as("a bean that does not exist yet").hasSize(1);
	}

	@Test
	void packagePrivateMethodWhoseProxyIsDefinedByAnotherClassLoader(@TempDir Path folder) throws Exception {
		Class<?> parent = parent(folder);
		Object proxy = new InMemoryCompiler(folder.resolve("proxy"))
			.source("a.Proxy",
					"package a; public class Proxy extends Parent implements org.springframework.aop.SpringProxy { }")
			.load("a.Proxy", parent.getClassLoader())
			.getConstructor()
			.newInstance();
		assertThat(new InspectedBean("bean", parent, null).isProxiedInPackageOf(parent)).isTrue();
		assertThat(new InspectedBean("bean", parent, proxy).isProxiedInPackageOf(parent)).isFalse();
	}

	private static Class<?> parent(Path folder) throws Exception {
		return new InMemoryCompiler(folder.resolve("parent")).source("a.Parent", """
				package a;
				public class Parent {
					@dev.dblock.DistributedLock
					void run() { }
					@dev.dblock.DistributedLock
					protected void open() { }
				}
				""").load("a.Parent");
	}

	@Test
	void packagePrivateMethodOfAnAnnotatedClassInAnotherClassLoaderIsLeftOut(@TempDir Path folder) throws Exception {
		Class<?> parent = new InMemoryCompiler(folder.resolve("parent")).source("a.Parent", """
				package a;
				@dev.dblock.DistributedLock("parent")
				public class Parent {
					void run() { }
				}
				""").load("a.Parent");
		Class<?> type = new InMemoryCompiler(folder.resolve("child"))
			.source("a.Child", "package a; public class Child extends Parent { }")
			.load("a.Child", parent.getClassLoader());
		assertThat(findings(type)).isEmpty();
	}

	@Test
	void inheritedMethodThatImplementsALockedInterface() {
		assertThat(findings(InheritedImplementation.class)).isEmpty();
	}

	@Test
	void finalMethodOfAnInterfaceCanBeLockedThroughTheInterface() {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		try (context) {
			context.register(InterfaceProxies.class);
			context.registerBean("bean", FinalImplementation.class);
			context.registerBean("later", FinalImplementation.class, CheckedBeans::lazy);
			context.refresh();
			assertThat(AopUtils.isJdkDynamicProxy(context.getBean("bean"))).isTrue();
			context.getBean("bean", Task.class).run();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock task", "unlock task");
		}
	}

	interface Handler<T> {

		@DistributedLock("handler")
		void handle(T message);

	}

	static class Implementation {

		public void handle(String message) {
		}

	}

	static class InheritedImplementation extends Implementation implements Handler<String> {

	}

	static class Hidden {

		@DistributedLock("a")
		private void secret() {
		}

		@DistributedLock("b")
		public final void last() {
		}

		@DistributedLock("c")
		public static void ofClass() {
		}

	}

	@DistributedLock("a")
	static class FinalMethod {

		public final void last() {
		}

		public void open() {
		}

		final void notPublic() {
		}

	}

	@DistributedLock("whole")
	public static class LockedApplicationObject extends ApplicationObjectSupport {

		public void run() {
		}

	}

}
