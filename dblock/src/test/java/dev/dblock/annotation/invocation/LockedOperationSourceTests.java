package dev.dblock.annotation.invocation;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Optional;

import dev.dblock.DistributedLock;
import dev.dblock.engine.LockEngine;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AliasFor;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

class LockedOperationSourceTests {

	private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

	private final LockedOperationSource source = new LockedOperationSource(this.beans,
			this.beans.getBeanProvider(LockEngine.class));

	@Test
	void methodComesBeforeClass() {
		assertThat(nameOn(OnBoth.class, "own")).isEqualTo("method");
		assertThat(nameOn(OnBoth.class, "other")).isEqualTo("class");
	}

	@Test
	void valueIsTheName() {
		assertThat(nameOn(OnBoth.class, "byValue")).isEqualTo("value");
	}

	@Test
	void classAnnotationIsForWhatOthersCanCallOnAnInstance() {
		assertThat(nameOn(OnBoth.class, "packagePrivate")).isEqualTo("class");
		assertThat(nameOn(OnBoth.class, "open")).isEqualTo("class");
		assertThat(nameOn(OnBoth.class, "hidden")).isNull();
		assertThat(nameOn(OnBoth.class, "ofClass")).isNull();
		assertThat(nameOn(OnBoth.class, "bean")).isNull();
	}

	@Test
	void classAnnotationIsForInheritedMethods() {
		assertThat(nameOn(Child.class, "inherited")).isEqualTo("child");
		assertThat(nameOn(GrandChild.class, "inherited")).isEqualTo("child");
	}

	@Test
	void nonPublicMethodIsLockedByTheAnnotationOfItsOwnClassOnly() {
		assertThat(nameOn(OtherChild.class, "packagePrivate")).isEqualTo("other child");
		assertThat(nameOn(Child.class, "open")).isNull();
		assertThat(nameOn(Child.class, "packagePrivate")).isNull();
		assertThat(nameOn(GrandChild.class, "ownOfChild")).isEqualTo("child");
	}

	@Test
	void subclassTakesItsOwnBeforeThatOfItsParent() {
		assertThat(nameOn(OtherChild.class, "other")).isEqualTo("other child");
		assertThat(nameOn(OtherChild.class, "own")).isEqualTo("method");
	}

	@Test
	void methodsOfObjectAreNotLocked() throws Exception {
		assertThat(this.source.declaration(Object.class.getMethod("hashCode"), OnBoth.class)).isEmpty();
		assertThat(nameOn(OnBoth.class, "toString")).isNull();
	}

	@Test
	void implementationComesBeforeInterface() {
		assertThat(nameOn(Implementation.class, "both")).isEqualTo("implementation");
		assertThat(nameOn(Implementation.class, "declared")).isEqualTo("interface");
		assertThat(nameOn(Implementation.class, "byDefault")).isEqualTo("default");
		assertThat(nameOn(OfTypeAnnotated.class, "run")).isEqualTo("type");
	}

	@Test
	void methodOfInterfaceIsFoundByCallThroughTheInterface() throws Exception {
		Method method = Interface.class.getMethod("both", Object.class);
		assertThat(this.source.declaration(method, Implementation.class))
			.map((declaration) -> declaration.annotations().get(0))
			.map(DistributedLock::name)
			.contains("implementation");
	}

	@Test
	void bridgeLeadsToTheMethodThatWasWritten() {
		Method bridge = Arrays.stream(Implementation.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals("both") && method.isBridge())
			.findFirst()
			.orElseThrow();
		LockDeclaration declaration = this.source.declaration(bridge, Implementation.class).orElseThrow();
		assertThat(declaration.annotations().get(0).name()).isEqualTo("implementation");
		assertThat(declaration.method().method().isBridge()).isFalse();
		assertThat(declaration.method().describe()).isEqualTo(Implementation.class.getName() + "#both(String)");
	}

	@Test
	void metaAnnotationsAreMerged() {
		DistributedLock lock = annotationOn(Meta.class, "run");
		assertThat(lock.name()).isEqualTo("meta");
		assertThat(lock.leaseSeconds()).isEqualTo(7);
		assertThat(nameOn(MetaType.class, "run")).isEqualTo("meta");
	}

	@Test
	void proxyOfInterfaceIsNamedAfterTheInterface() throws Exception {
		Object proxy = Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Interface.class },
				(self, method, arguments) -> null);
		LockDeclaration declaration = this.source.declaration(Interface.class.getMethod("declared"), proxy.getClass())
			.orElseThrow();
		assertThat(declaration.method().path()).isEqualTo(Interface.class.getName() + "#declared");
	}

	@Test
	void targetBehindAnInterfaceThatItDoesNotHaveIsNamedAfterTheInterface() throws Exception {
		LockDeclaration declaration = this.source.declaration(Interface.class.getMethod("declared"), String.class)
			.orElseThrow();
		assertThat(declaration.method().userClass()).isEqualTo(Interface.class);
	}

	@Test
	void withoutTargetTheDeclaringClassCounts() throws Exception {
		LockDeclaration declaration = this.source.declaration(TypeAnnotated.class.getMethod("run"), null).orElseThrow();
		assertThat(declaration.method().userClass()).isEqualTo(TypeAnnotated.class);
	}

	@Test
	void answersAreKept() throws Exception {
		Method locked = OnBoth.class.getMethod("own");
		assertThat(this.source.declaration(locked, OnBoth.class))
			.isSameAs(this.source.declaration(locked, OnBoth.class));
		assertThat(this.source.operation(locked, OnBoth.class)).isSameAs(this.source.operation(locked, OnBoth.class));
		Method free = String.class.getMethod("length");
		assertThat(this.source.operation(free, String.class)).isSameAs(Optional.empty());
	}

	@Test
	void lockedMethodsOfAClassAreFoundOnce() {
		assertThat(this.source.lockedMethods(Implementation.class))
			.extracting((found) -> found.method().method().getName())
			.containsExactlyInAnyOrder("both", "declared", "byDefault");
	}

	private String nameOn(Class<?> type, String method) {
		DistributedLock lock = annotationOn(type, method);
		return (lock != null) ? lock.name() : null;
	}

	private DistributedLock annotationOn(Class<?> type, String name) {
		Method method = Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isBridge())
			.findFirst()
			.orElseGet(() -> ReflectionUtils.findMethod(type, name));
		return this.source.declaration(method, type)
			.map((declaration) -> declaration.annotations().get(0))
			.orElse(null);
	}

	@DistributedLock("class")
	static class OnBoth {

		@DistributedLock(name = "method")
		public void own() {
		}

		@DistributedLock("value")
		public void byValue() {
		}

		public void other() {
		}

		void packagePrivate() {
		}

		protected void open() {
		}

		@Bean
		public String bean() {
			return "";
		}

		private void hidden() {
		}

		public static void ofClass() {
		}

		@Override
		public String toString() {
			return "";
		}

	}

	@DistributedLock("other child")
	static class OtherChild extends OnBoth {

	}

	static class Parent {

		public void inherited() {
		}

		protected void open() {
		}

		void packagePrivate() {
		}

	}

	@DistributedLock("child")
	static class Child extends Parent {

		void ownOfChild() {
		}

	}

	static class GrandChild extends Child {

	}

	interface Interface<T> {

		@DistributedLock("interface both")
		void both(T argument);

		@DistributedLock("interface")
		void declared();

		@DistributedLock("default")
		default void byDefault() {
		}

	}

	static class Implementation implements Interface<String> {

		@Override
		@DistributedLock("implementation")
		public void both(String argument) {
		}

		@Override
		public void declared() {
		}

	}

	@DistributedLock("type")
	interface TypeAnnotated {

		void run();

	}

	static class OfTypeAnnotated implements TypeAnnotated {

		@Override
		public void run() {
		}

	}

	@Target({ ElementType.METHOD, ElementType.TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(leaseSeconds = 7)
	@interface Locked {

		@AliasFor(annotation = DistributedLock.class, attribute = "name")
		String value();

	}

	static class Meta {

		@Locked("meta")
		public void run() {
		}

	}

	@Locked("meta")
	static class MetaType {

		public void run() {
		}

	}

}
