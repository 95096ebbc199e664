package dev.dblock.annotation;

import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import dev.dblock.DistributedLock;
import dev.dblock.LockOperations;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.CheckedBeans.FinalImplementation;
import dev.dblock.annotation.CheckedBeans.Sound;
import dev.dblock.annotation.CheckedBeans.Task;
import dev.dblock.annotation.CheckedBeans.WithoutTemplate;
import dev.dblock.annotation.invocation.InMemoryCompiler;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.RecordingEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.SimpleThreadScope;

import static dev.dblock.annotation.CheckedBeans.findings;
import static dev.dblock.annotation.CheckedBeans.start;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link LockDeclarationChecker}: which beans it checks, and how it reports
 * what it finds.
 */
class LockDeclarationCheckerTests {

	private static final String HERE = LockDeclarationCheckerTests.class.getName() + "$";

	private static int created;

	@Test
	void soundBeansStart() {
		assertThat(findings(Sound.class)).isEmpty();
	}

	@Test
	void allFindingsOfOneStartAreReportedTogether() {
		InvalidLockDeclarationException ex = start((context) -> context.registerBean("first", Broken.class),
				(context) -> context.registerBean("second", Broken.class));
		assertThat(ex.findings()).hasSize(6).allMatch((finding) -> finding.startsWith("bean '"));
		assertThat(ex).hasMessageStartingWith("Locked methods cannot work as declared:\n- bean 'first', ")
			.hasMessageContaining("\n- bean 'second', ");
	}

	@Test
	void severalReasonsOfOneMethod() {
		assertThat(findings(Broken.class)).hasSize(3)
			.allMatch((finding) -> finding.startsWith("bean 'bean', " + HERE + "Broken#run(String): "));
	}

	@Test
	void findingsComeInTheSameOrderAtEachStart() {
		List<String> findings = start((context) -> {
			context.registerBean("second", DeclaredAttributeCheckTests.Durations.class);
			context.registerBean("first", Broken.class);
		}).findings();
		assertThat(findings).hasSizeGreaterThan(10).isSorted();
	}

	@Test
	void nothingToLockWith() {
		assertThat(findings(WithoutTemplate.class, Sound.class)).containsExactly("bean 'bean', " + Sound.class.getName()
				+ ": has locked methods, but there is no LockEngine bean to lock them with;"
				+ " declare one, such as a DefaultLockEngine, beside @EnableDistributedLocks");
	}

	@Test
	void nothingToLockWithMattersOnlyForLockedMethods() {
		assertThat(findings(WithoutTemplate.class, String.class)).isEmpty();
	}

	@Test
	void methodsUseTheEngineDirectlyBesideOtherOperations() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.registerBean(LockOperations.class, () -> mock(LockOperations.class));
			context.registerBean("bean", Sound.class);
			context.refresh();
			context.getBean("bean", Sound.class).run();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock sound", "unlock sound");
		}
	}

	@Test
	void beansAreInspectedWithoutCreatingThem() {
		created = 0;
		List<String> findings = start((context) -> {
			context.registerBean("lazy", Counted.class, CheckedBeans::lazy);
			context.registerBean("prototype", Counted.class, CheckedBeans::prototype);
			context.registerBean("factory", CountedFactory.class, CheckedBeans::lazy);
			registerScoped(context);
		}).findings();
		assertThat(created).isZero();
		assertThat(findings).extracting((finding) -> finding.substring(0, finding.indexOf(':')))
			.containsExactlyInAnyOrder("bean 'lazy', " + HERE + "Counted#run(String)",
					"bean 'prototype', " + HERE + "Counted#run(String)",
					"bean 'factory', " + HERE + "Counted#run(String)",
					"bean 'factory', " + HERE + "CountedFactory#getObjectLocked(String)",
					"bean 'scopedTarget.scoped', " + HERE + "Counted#run(String)");
	}

	private static void registerScoped(AnnotationConfigApplicationContext context) {
		RootBeanDefinition definition = new RootBeanDefinition(Counted.class);
		definition.setScope("session");
		context.getBeanFactory().registerScope("session", new SimpleThreadScope());
		BeanDefinitionHolder holder = ScopedProxyUtils.createScopedProxy(new BeanDefinitionHolder(definition, "scoped"),
				context, true);
		context.registerBeanDefinition(holder.getBeanName(), holder.getBeanDefinition());
	}

	@Test
	void abstractDefinitionsAreNoBeans() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			RootBeanDefinition template = new RootBeanDefinition(Broken.class);
			template.setAbstract(true);
			context.registerBeanDefinition("template", template);
			context.refresh();
		}
	}

	@Test
	void scopedBeanIsLockedAndItsProxyIgnored() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.getBeanFactory().registerScope("session", new SimpleThreadScope());
			RootBeanDefinition definition = new RootBeanDefinition(Sound.class);
			definition.setScope("session");
			BeanDefinitionHolder holder = ScopedProxyUtils
				.createScopedProxy(new BeanDefinitionHolder(definition, "scoped"), context, true);
			context.registerBeanDefinition("scoped", holder.getBeanDefinition());
			context.refresh();
			context.getBean("scoped", Sound.class).run();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock sound", "unlock sound");
		}
	}

	@Test
	void classThatIsKnownOnlyWhenCreatedIsCheckedThen() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.registerBean("broken", Task.class, BrokenTask::new, CheckedBeans::lazy);
			context.registerBean("final", Task.class, FinalImplementation::new, CheckedBeans::lazy);
			context.registerBean("hidden", Task.class, HiddenTask::new, CheckedBeans::lazy);
			context.registerBean("sound", Task.class, SoundTask::new, CheckedBeans::prototype);
			context.refresh();
			for (int i = 0; i < 2; i++) {
				assertRefused(context, "broken",
						HERE + "BrokenTask#run(): the name '#{#order}' cannot be evaluated: there"
								+ " is no #order, because the method has no parameters");
				assertRefused(context, "final",
						FinalImplementation.class.getName() + ": has locked methods, but the class is final, so"
								+ " no proxy can lock them; open the class");
				assertRefused(context, "hidden",
						HERE + "HiddenTask#secret(): is private, so no proxy can lock it; make it"
								+ " neither private nor final");
				context.getBean("sound", Task.class).run();
			}
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock task", "unlock task",
					"lock task", "unlock task");
		}
	}

	private static void assertRefused(AnnotationConfigApplicationContext context, String bean, String finding) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean(bean))
			.withMessageContaining("'" + bean + "'")
			.havingCause()
			.isInstanceOf(InvalidLockDeclarationException.class)
			.withMessage("Locked methods cannot work as declared:\n- " + finding);
	}

	@Test
	void callBeforeTheCheckIsRefusedByItself() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.registerBean("bean", Broken.class);
			context.registerBean("caller", InitializingBean.class, () -> () -> context.getBean(Broken.class).run("x"));
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(context::refresh)
				.withMessageContaining("'caller'")
				.havingCause()
				.isInstanceOf(InvalidLockDeclarationException.class)
				.withMessageStartingWith("Locked methods cannot work as declared:\n- " + HERE + "Broken#run(String): ");
		}
	}

	@Test
	void proxyOfInterfacesIsLockedByTheInterfacesAnnotation() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.registerBean("declarative", DeclarativeFactory.class);
			context.refresh();
			context.getBean(Declarative.class).call("7");
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock call-7", "unlock call-7");
		}
	}

	@Test
	void lambdaIsLockedAndNamedByItsInterface() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.registerBean("lambda", Nameless.class, () -> () -> {
			});
			context.registerBean("other", Declarative.class, () -> (id) -> {
			});
			context.refresh();
			context.getBean(Nameless.class).call();
			context.getBean(Declarative.class).call("7");
			String name = HERE + "Nameless#call";
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock " + name,
					"unlock " + name, "lock call-7", "unlock call-7");
		}
	}

	@Test
	void productOfAFactoryIsCheckedByItsType() {
		assertThat(findings(BrokenDeclarativeFactory.class)).containsExactly("bean 'bean', " + HERE
				+ "BrokenDeclarative#call(): the name '#{#id}' cannot be evaluated: there is no #id, because"
				+ " the method has no parameters");
	}

	@Test
	void classThatRefersToAnAbsentLibraryIsIgnored(@TempDir Path folder) throws Exception {
		Class<?> type = new InMemoryCompiler(folder).source("a.Absent", "package a; public class Absent { }")
			.source("a.Referring", "package a; public class Referring { public void use(Absent absent) { } }")
			.load("a.Referring");
		Files.delete(folder.resolve("classes/a/Absent.class"));
		assertThat(start((context) -> {
			RootBeanDefinition definition = new RootBeanDefinition(CountedFactory.class);
			definition.setLazyInit(true);
			definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, type);
			context.registerBeanDefinition("bean", definition);
		}).findings()).singleElement().asString().contains("CountedFactory#getObjectLocked");
	}

	static class Broken {

		@DistributedLock(name = "a-#{#nothing}", leaseString = "soon", whenUnavailable = WhenUnavailable.SKIP)
		public int run(String month) {
			return 1;
		}

	}

	interface Declarative {

		@DistributedLock("call-#{#id}")
		void call(String id);

	}

	interface Nameless {

		@DistributedLock
		void call();

	}

	static class DeclarativeFactory implements FactoryBean<Declarative> {

		@Override
		public Declarative getObject() {
			return (Declarative) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { Declarative.class }, (proxy, method, arguments) -> null);
		}

		@Override
		public Class<?> getObjectType() {
			return Declarative.class;
		}

	}

	interface BrokenDeclarative {

		@DistributedLock("#{#id}")
		void call();

	}

	static class BrokenDeclarativeFactory implements FactoryBean<BrokenDeclarative> {

		@Override
		public BrokenDeclarative getObject() {
			return () -> {
			};
		}

		@Override
		public Class<?> getObjectType() {
			return BrokenDeclarative.class;
		}

	}

	static class SoundTask implements Task {

		@Override
		@DistributedLock("task")
		public void run() {
		}

	}

	static class HiddenTask extends SoundTask {

		@DistributedLock("secret")
		private void secret() {
		}

	}

	static class BrokenTask implements Task {

		@Override
		@DistributedLock("#{#order}")
		public void run() {
		}

	}

	static class Counted {

		Counted() {
			created++;
		}

		@DistributedLock("#{#order}")
		public void run(String month) {
		}

	}

	static class CountedFactory implements FactoryBean<Counted> {

		@Override
		public Counted getObject() {
			return new Counted();
		}

		@Override
		public Class<?> getObjectType() {
			return Counted.class;
		}

		@DistributedLock("#{#order}")
		public void getObjectLocked(String month) {
		}

	}

}
