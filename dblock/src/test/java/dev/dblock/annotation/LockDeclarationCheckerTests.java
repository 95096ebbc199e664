package dev.dblock.annotation;

import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockOperations;
import dev.dblock.LockTemplate;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.invocation.InMemoryCompiler;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.LockingConfiguration;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.annotation.Resource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Role;
import org.springframework.context.support.ApplicationObjectSupport;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.PriorityOrdered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.mockito.Mockito.mock;

class LockDeclarationCheckerTests {

	private static final String HERE = LockDeclarationCheckerTests.class.getName() + "$";

	private static int created;

	@Test
	void soundBeansStart() {
		assertThat(findings(LockingConfiguration.class, Sound.class)).isEmpty();
	}

	@Test
	void allFindingsOfOneStartAreReportedTogether() {
		InvalidLockDeclarationException ex = start(LockingConfiguration.class,
				(context) -> context.registerBean("first", Broken.class),
				(context) -> context.registerBean("second", Broken.class));
		assertThat(ex.findings()).hasSize(6).allMatch((finding) -> finding.startsWith("bean '"));
		assertThat(ex).hasMessageStartingWith("Locked methods cannot work as declared:\n- bean 'first', ")
			.hasMessageContaining("\n- bean 'second', ");
	}

	@Test
	void brokenExpression() {
		assertThat(findings(LockingConfiguration.class, BrokenExpression.class)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + HERE + "BrokenExpression#run(String): the name 'a-#{#x.}' has an expression"
					+ " that cannot be parsed: ");
	}

	@Test
	void brokenPlaceholder() {
		assertThat(findings(LockingConfiguration.class, BrokenPlaceholder.class)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + HERE + "BrokenPlaceholder#run(): the name 'a-${nowhere}' has a placeholder"
					+ " that cannot be resolved: 'a-${nowhere}'");
		assertThat(findings(StrictPlaceholders.class, BrokenPlaceholder.class)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + HERE + "BrokenPlaceholder#run(): the name 'a-${nowhere}' has a placeholder"
					+ " that cannot be resolved: Could not resolve placeholder 'nowhere'");
	}

	@Test
	void brokenPlaceholderInADuration() {
		assertThat(findings(StrictPlaceholders.class, BrokenDuration.class)).singleElement()
			.asString()
			.startsWith(
					"bean 'bean', " + HERE + "BrokenDuration#run(): waitString = \"${nowhere}\" has a placeholder that"
							+ " cannot be resolved: Could not resolve placeholder 'nowhere'")
			.endsWith("; set the property, or give it a default as in ${key:default}");
		assertThat(findings(StrictPlaceholders.class, BrokenDurations.class)).hasSize(2)
			.anyMatch((finding) -> finding.contains("#run(): leaseString = \"soon\" is not a duration; "))
			.anyMatch((finding) -> finding.contains("#run(): waitString = \"${nowhere}\" has a placeholder "));
		assertThat(findings(LockingConfiguration.class, BrokenDuration.class)).singleElement()
			.asString()
			.contains("#run(): waitString = \"${nowhere}\" has a placeholder that cannot be resolved: '${nowhere}'; ");
	}

	@Test
	void brokenPlaceholderInTheNameOfADatabase() {
		assertThat(findings(StrictPlaceholders.class, BrokenDatabase.class)).singleElement()
			.asString()
			.contains("#run(): databaseFactory = \"${nowhere}\" has a placeholder that cannot be resolved: ");
	}

	@Test
	void unknownParameter() {
		assertThat(findings(LockingConfiguration.class, UnknownParameter.class)).containsExactly("bean 'bean', " + HERE
				+ "UnknownParameter#run(String): the name '#{#order}' cannot be evaluated: there is no #order, only #a0,"
				+ " #month, #p0");
	}

	@Test
	void parameterOfTheInterfaceThatTheImplementationCallsOtherwise() {
		assertThat(findings(LockingConfiguration.class, SettlingById.class)).containsExactly("bean 'bean', " + HERE
				+ "SettlingById#settle(String): the name 'order-#{#order}' cannot be evaluated: there is no #order, only"
				+ " #a0, #id, #p0 (the annotation is on " + HERE + "Settling, but the parameters are those of " + HERE
				+ "SettlingById)");
	}

	@Test
	void classCompiledWithoutParameterNames(@TempDir Path folder) throws Exception {
		Class<?> type = new InMemoryCompiler(folder).source("a.Nameless", """
				package a;
				public class Nameless {
					@dev.dblock.DistributedLock("order-#{#order}")
					public void settle(String order) { }
				}
				""").load("a.Nameless");
		assertThat(findings(LockingConfiguration.class, type)).containsExactly(
				"bean 'bean', a.Nameless#settle(String): the name 'order-#{#order}' cannot be evaluated: there is no"
						+ " #order, because the class was compiled without the names of its parameters; compile it"
						+ " with -parameters, or write #a0 for the first");
	}

	@Test
	void hiddenMethods() {
		assertThat(findings(LockingConfiguration.class, Hidden.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE
						+ "Hidden#secret(): is private, so no proxy can lock it; make it neither private nor final",
				"bean 'bean', " + HERE
						+ "Hidden#last(): is final, so no proxy can lock it; make it neither private nor final",
				"bean 'bean', " + HERE
						+ "Hidden#ofClass(): is static, so no proxy can lock it; make it an instance method");
	}

	@Test
	void finalMethodUnderAnAnnotatedClass() {
		assertThat(findings(LockingConfiguration.class, FinalMethod.class)).containsExactly("bean 'bean', " + HERE
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
		assertThat(findings(LockingConfiguration.class, type)).isEmpty();
	}

	@Test
	void finalMethodThatAnAnnotatedClassInheritedIsLeftOut() {
		assertThat(findings(LockingConfiguration.class, LockedApplicationObject.class)).isEmpty();
	}

	@Test
	void methodsThatSpringCallsWithoutTheProxy() {
		assertThat(findings(LockingConfiguration.class, Lifecycle.class)).hasSize(4)
			.allMatch((finding) -> finding.endsWith("(): is called by Spring without the proxy that locks it; move the"
					+ " work into a locked method of another bean, or into an ApplicationRunner"));
	}

	@Test
	void methodsThatSpringInjectsInto() {
		assertThat(findings(LockingConfiguration.class, Injected.class)).hasSize(3)
			.allMatch((finding) -> finding.contains("#set")
					&& finding.contains("is called by Spring without the proxy that locks it"));
	}

	@Test
	void methodsThatADefinitionNames() {
		assertThat(callbacks((definition) -> {
		})).containsExactly("close");
		assertThat(callbacks((definition) -> {
			definition.setInitMethodName("open");
			definition.setDestroyMethodName("shutdown");
		})).containsExactlyInAnyOrder("open", "shutdown");
		assertThat(callbacks((definition) -> definition.setDestroyMethodName("(inferred)"))).containsExactly("close");
		assertThat(callbacks((definition) -> definition.setDestroyMethodName(""))).isEmpty();
		assertThat(callbacks((definition) -> definition.setScope("prototype"))).isEmpty();
	}

	@Test
	void methodsThatSpringInfersWithoutAnInterface() {
		assertThat(findings(WithInferredMethod.class, Sound.class)).singleElement()
			.asString()
			.startsWith("bean 'pool', " + HERE + "Pool#shutdown(): is called by Spring without the proxy");
	}

	/**
	 * The methods of {@link Named} that are refused for what its definition says.
	 */
	private static List<String> callbacks(Consumer<RootBeanDefinition> names) {
		InvalidLockDeclarationException ex = start(LockingConfiguration.class, (context) -> {
			RootBeanDefinition definition = new RootBeanDefinition(Named.class);
			names.accept(definition);
			context.registerBeanDefinition("bean", definition);
		});
		return (ex != null) ? ex.findings()
			.stream()
			.map((finding) -> finding.replaceAll(".*#(\\w+)\\(\\): is called by Spring without the proxy.*", "$1"))
			.toList() : List.of();
	}

	@Test
	void closeOfALockedClassIsNotRefused() {
		assertThat(findings(LockingConfiguration.class, LockedResource.class)).isEmpty();
	}

	@Test
	void annotationOnAClassLeavesOutWhatSpringCallsWithoutTheProxy() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.registerBean("bean", LifecycleOfALockedClass.class);
			context.refresh();
			LifecycleOfALockedClass bean = context.getBean(LifecycleOfALockedClass.class);
			bean.afterPropertiesSet();
			assertThat(context.getBean(RecordingEngine.class).events()).isEmpty();
			bean.run();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock whole", "unlock whole");
		}
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
		assertThat(findings(LockingConfiguration.class, type)).containsExactly("bean 'bean', b.Child#run(): is"
				+ " package-private in another package, so no proxy can lock it; make it protected or public");
		assertThat(findings(LockingConfiguration.class, type.getSuperclass())).isEmpty();
	}

	@Test
	void finalMethodOfAnInterfaceCanBeLockedThroughTheInterface() {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		try (context) {
			context.register(InterfaceProxies.class);
			context.registerBean("bean", FinalImplementation.class);
			context.registerBean("later", FinalImplementation.class, LockDeclarationCheckerTests::lazy);
			context.refresh();
			assertThat(AopUtils.isJdkDynamicProxy(context.getBean("bean"))).isTrue();
			context.getBean("bean", Task.class).run();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock task", "unlock task");
		}
	}

	@Test
	void classesThatCannotBeProxied() {
		assertThat(findings(LockingConfiguration.class, FinalClass.class)).containsExactly("bean 'bean', " + HERE
				+ "FinalClass: has locked methods, but the class is final, so no proxy can lock them; open the"
				+ " class");
		assertThat(findings(LockingConfiguration.class, Recorded.class)).singleElement()
			.asString()
			.contains("the class is final");
		assertThat(findings(LockingConfiguration.class, Sealed.class)).singleElement()
			.asString()
			.contains("the class is sealed");
		assertThat(start(LockingConfiguration.class,
				(context) -> context.registerBean("bean", PrivateConstructor.class, PrivateConstructor::create))
			.findings()).singleElement().asString().contains("the class has private constructors only");
		assertThat(start(LockingConfiguration.class,
				(context) -> context.registerBean("bean", Enumerated.class, () -> Enumerated.ONE))
			.findings()).singleElement().asString().contains("the class is final");
		assertThat(findings(InterfaceProxies.class, FinalClass.class)).singleElement()
			.asString()
			.contains("the class is final");
		assertThat(findings(LockingConfiguration.class, FinalImplementation.class)).singleElement()
			.asString()
			.contains("the class is final");
	}

	@Test
	void beanWithoutProxyMadeByHand() {
		assertThat(start(LockingConfiguration.class,
				(context) -> context.getBeanFactory().registerSingleton("bean", new Sound()))
			.findings()).containsExactly(
					"bean 'bean', " + HERE + "Sound: has locked methods, but no proxy that locks them, so they would"
							+ " run unlocked: the bean was created too early (a bean post-processor depends on it), or"
							+ " not by Spring; let Spring create it after the post-processors");
	}

	@Test
	void beanWithAProxyOfAnother() {
		ProxyFactory factory = new ProxyFactory(new Sound());
		factory.setProxyTargetClass(true);
		assertThat(start(LockingConfiguration.class,
				(context) -> context.getBeanFactory().registerSingleton("bean", factory.getProxy()))
			.findings()).singleElement().asString().contains("no proxy that locks them");
	}

	@Test
	void opaqueProxyOfAnotherIsLeftAlone() {
		ProxyFactory factory = new ProxyFactory(new Sound());
		factory.setProxyTargetClass(true);
		factory.setOpaque(true);
		Object proxy = factory.getProxy();
		assertThat(new InspectedBean("bean", Sound.class, proxy).isUnlocked()).isFalse();
		assertThat(new InspectedBean("bean", Sound.class, null).isUnlocked()).isFalse();
	}

	@Test
	void beanWithoutProxyCreatedEarly() {
		assertThat(findings(NeedsEarly.class, Sound.class)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + HERE + "Sound: has locked methods, but no proxy that locks them");
	}

	@Test
	void skipOfAPrimitive() {
		String reason = ": a skipped call could not be distinguished from one that returned a result, because the"
				+ " method returns the primitive int; return an object, or set whenUnavailable = THROW";
		assertThat(findings(LockingConfiguration.class, Primitive.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE + "Primitive#skipping()" + reason,
				"bean 'bean', " + HERE + "Primitive#scheduled()" + reason);
	}

	@Test
	void workThatGoesOn() {
		String reason = " its work continues after the method returns, when the lock is already released; finish the"
				+ " work in the method, return a CompletableFuture or a Mono, or acquire the lock where the work is"
				+ " done";
		assertThat(findings(LockingConfiguration.class, GoingOn.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE + "GoingOn#future(): with the return type java.util.concurrent.ScheduledFuture"
						+ reason,
				"bean 'bean', " + HERE + "GoingOn#stream(): with the return type java.util.stream.Stream" + reason,
				"bean 'bean', " + HERE + "GoingOn#mono(): with the return type java.util.concurrent.Callable" + reason);
	}

	@Test
	void badDurations() {
		assertThat(findings(LockingConfiguration.class, Durations.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE + "Durations#zero(): The lease must be positive, but is 0s",
				"bean 'bean', " + HERE + "Durations#negative(): The lease must be positive, but is -1s",
				"bean 'bean', " + HERE + "Durations#overflow(): leaseSeconds = 9223372036854775807 is longer than the"
						+ " maximum of 292 years; use a shorter one",
				"bean 'bean', " + HERE + "Durations#tooShort(): A lease of PT1S is too short; the shortest is PT2S",
				"bean 'bean', " + HERE + "Durations#minHold(): The minimum hold PT10M is longer than the lease",
				"bean 'bean', " + HERE
						+ "Durations#waiting(): The wait must not be negative, but is -5s (zero tries once)",
				"bean 'bean', " + HERE
						+ "Durations#both(): both leaseSeconds and leaseString are set; remove one of them",
				"bean 'bean', " + HERE + "Durations#text(): waitString = \"soon\" is not a duration; write 90, 90s,"
						+ " 5m or PT1H (a number without a unit means seconds)");
	}

	@Test
	void badConstantNames() {
		assertThat(findings(LockingConfiguration.class, Names.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE
						+ "Names#blank(): the name '  ' is blank after its placeholders are resolved; set a name, or"
						+ " omit it",
				"bean 'bean', " + HERE + "Names#tooLong(): A name of 101 characters cannot be a lock's");
	}

	@Test
	void severalReasonsOfOneMethod() {
		assertThat(findings(LockingConfiguration.class, Broken.class)).hasSize(3)
			.allMatch((finding) -> finding.startsWith("bean 'bean', " + HERE + "Broken#run(String): "));
	}

	@Test
	void findingsComeInTheSameOrderAtEachStart() {
		List<String> findings = start(LockingConfiguration.class, (context) -> {
			context.registerBean("second", Durations.class);
			context.registerBean("first", Broken.class);
		}).findings();
		assertThat(findings).hasSizeGreaterThan(10).isSorted();
	}

	@Test
	void nothingToLockWith() {
		assertThat(findings(WithoutTemplate.class, Sound.class)).containsExactly(
				"bean 'bean', " + HERE + "Sound: has locked methods, but there is no LockEngine bean to lock them with;"
						+ " declare one, such as a DefaultLockEngine, beside @EnableDistributedLocks");
	}

	@Test
	void nothingToLockWithMattersOnlyForLockedMethods() {
		assertThat(findings(WithoutTemplate.class, String.class)).isEmpty();
	}

	@Test
	void otherOperationsDoNotStandBetweenMethodAndEngine() {
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
	void beansAreLookedAtWithoutCreatingThem() {
		created = 0;
		List<String> findings = start(LockingConfiguration.class, (context) -> {
			context.registerBean("lazy", Counted.class, LockDeclarationCheckerTests::lazy);
			context.registerBean("prototype", Counted.class, LockDeclarationCheckerTests::prototype);
			context.registerBean("factory", CountedFactory.class, LockDeclarationCheckerTests::lazy);
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
	void scopedBeanIsLockedAndItsProxyLeftAlone() {
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
			context.registerBean("broken", Task.class, BrokenTask::new, LockDeclarationCheckerTests::lazy);
			context.registerBean("final", Task.class, FinalImplementation::new, LockDeclarationCheckerTests::lazy);
			context.registerBean("hidden", Task.class, HiddenTask::new, LockDeclarationCheckerTests::lazy);
			context.registerBean("sound", Task.class, SoundTask::new, LockDeclarationCheckerTests::prototype);
			context.refresh();
			for (int i = 0; i < 2; i++) {
				assertRefused(context, "broken", "BrokenTask#run(): the name '#{#order}' cannot be evaluated: there"
						+ " is no #order, because the method has no parameters");
				assertRefused(context, "final", "FinalImplementation: has locked methods, but the class is final, so"
						+ " no proxy can lock them; open the class");
				assertRefused(context, "hidden", "HiddenTask#secret(): is private, so no proxy can lock it; make it"
						+ " neither private nor final");
				context.getBean("sound", Task.class).run();
			}
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock task", "unlock task",
					"lock task", "unlock task");
		}
	}

	private static void lazy(BeanDefinition definition) {
		definition.setLazyInit(true);
	}

	private static void prototype(BeanDefinition definition) {
		definition.setScope(BeanDefinition.SCOPE_PROTOTYPE);
	}

	private static void assertRefused(AnnotationConfigApplicationContext context, String bean, String finding) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean(bean))
			.withMessageContaining("'" + bean + "'")
			.havingCause()
			.isInstanceOf(InvalidLockDeclarationException.class)
			.withMessage("Locked methods cannot work as declared:\n- " + HERE + finding);
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
		assertThat(findings(LockingConfiguration.class, BrokenDeclarativeFactory.class)).containsExactly("bean 'bean', "
				+ HERE + "BrokenDeclarative#call(): the name '#{#id}' cannot be evaluated: there is no #id, because"
				+ " the method has no parameters");
	}

	@Test
	void classThatRefersToAnAbsentLibraryIsLeftAlone(@TempDir Path folder) throws Exception {
		Class<?> type = new InMemoryCompiler(folder).source("a.Absent", "package a; public class Absent { }")
			.source("a.Referring", "package a; public class Referring { public void use(Absent absent) { } }")
			.load("a.Referring");
		Files.delete(folder.resolve("classes/a/Absent.class"));
		assertThat(start(LockingConfiguration.class, (context) -> {
			RootBeanDefinition definition = new RootBeanDefinition(CountedFactory.class);
			definition.setLazyInit(true);
			definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, type);
			context.registerBeanDefinition("bean", definition);
		}).findings()).singleElement().asString().contains("CountedFactory#getObjectLocked");
	}

	private static List<String> findings(Class<?> configuration, Class<?> bean) {
		InvalidLockDeclarationException ex = start(configuration, (context) -> {
			context.setClassLoader((bean.getClassLoader() != null) ? bean.getClassLoader() : context.getClassLoader());
			context.registerBean("bean", bean);
		});
		return (ex != null) ? ex.findings() : List.of();
	}

	@SafeVarargs
	private static InvalidLockDeclarationException start(Class<?> configuration,
			Consumer<AnnotationConfigApplicationContext>... beans) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(configuration);
			for (Consumer<AnnotationConfigApplicationContext> bean : beans) {
				bean.accept(context);
			}
			return catchThrowableOfType(InvalidLockDeclarationException.class, context::refresh);
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class StrictPlaceholders extends LockingConfiguration {

		@Bean
		static PropertySourcesPlaceholderConfigurer placeholders() {
			return new PropertySourcesPlaceholderConfigurer();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(proxyTargetClass = false)
	static class WithoutTemplate {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor advisor(ConfigurableListableBeanFactory beanFactory,
				ObjectProvider<LockEngine> engine) {
			return new DistributedLockAdvisor(beanFactory, engine, DistributedLockAdvisor.DEFAULT_ORDER);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static LockDeclarationChecker checker(ConfigurableListableBeanFactory beanFactory,
				DistributedLockAdvisor advisor) {
			return new LockDeclarationChecker(beanFactory, advisor);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InterfaceProxies extends WithoutTemplate {

		@Bean
		RecordingEngine engine() {
			return new RecordingEngine();
		}

		@Bean
		LockTemplate lockTemplate(RecordingEngine engine) {
			return new DefaultLockTemplate(engine);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeedsEarly extends LockingConfiguration {

		@Bean
		static EarlyProcessor earlyProcessor(ObjectProvider<Sound> early) {
			return new EarlyProcessor(early.getObject());
		}

	}

	record EarlyProcessor(Sound early) implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

	static class Sound {

		@DistributedLock("sound")
		public void run() {
		}

	}

	static class Broken {

		@DistributedLock(name = "a-#{#nothing}", leaseString = "soon", whenUnavailable = WhenUnavailable.SKIP)
		public int run(String month) {
			return 1;
		}

	}

	static class BrokenExpression {

		@DistributedLock("a-#{#x.}")
		public void run(String x) {
		}

	}

	static class BrokenPlaceholder {

		@DistributedLock("a-${nowhere}")
		public void run() {
		}

	}

	static class BrokenDuration {

		@DistributedLock(waitString = "${nowhere}")
		public void run() {
		}

	}

	static class BrokenDurations {

		@DistributedLock(leaseString = "soon", waitString = "${nowhere}")
		public void run() {
		}

	}

	static class BrokenDatabase {

		@DistributedLock(databaseFactory = "${nowhere}")
		public void run() {
		}

	}

	interface Settling {

		@DistributedLock("order-#{#order}")
		void settle(String order);

	}

	static class SettlingById implements Settling {

		@Override
		public void settle(String id) {
		}

	}

	static class UnknownParameter {

		@DistributedLock("#{#order}")
		public void run(String month) {
		}

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

	interface Task {

		void run();

	}

	static final class FinalImplementation implements Task {

		@Override
		@DistributedLock("task")
		public final void run() {
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

	static final class FinalClass {

		@DistributedLock("a")
		public void run() {
		}

	}

	record Recorded() {

		@DistributedLock("a")
		public void run() {
		}

	}

	enum Enumerated {

		ONE;

		@DistributedLock("a")
		public void run() {
		}

	}

	static sealed class Sealed permits Unsealed {

		@DistributedLock("a")
		public void run() {
		}

	}

	static final class Unsealed extends Sealed {

	}

	static class PrivateConstructor {

		private PrivateConstructor() {
		}

		static PrivateConstructor create() {
			return new PrivateConstructor();
		}

		@DistributedLock("a")
		public void run() {
		}

	}

	static class Primitive {

		@DistributedLock(whenUnavailable = WhenUnavailable.SKIP)
		public int skipping() {
			return 1;
		}

		@Scheduled(fixedRate = 1)
		@DistributedLock
		public int scheduled() {
			return 1;
		}

		@DistributedLock
		public int throwing() {
			return 1;
		}

	}

	static class GoingOn {

		@Async
		@DistributedLock
		public ScheduledFuture<String> future() {
			return null;
		}

		@DistributedLock
		public CompletableFuture<Stream<String>> stream() {
			return new CompletableFuture<>();
		}

		@DistributedLock
		public Mono<Callable<String>> mono() {
			return Mono.empty();
		}

		@Async
		@DistributedLock
		public void inTheExecutor() {
		}

	}

	static class Durations {

		@DistributedLock(leaseSeconds = 0)
		public void zero() {
		}

		@DistributedLock(leaseSeconds = -1)
		public void negative() {
		}

		@DistributedLock(leaseSeconds = Long.MAX_VALUE)
		public void overflow() {
		}

		@DistributedLock(leaseSeconds = 1)
		public void tooShort() {
		}

		@DistributedLock(minHoldString = "10m")
		public void minHold() {
		}

		@DistributedLock(waitSeconds = -5)
		public void waiting() {
		}

		@DistributedLock(leaseSeconds = 5, leaseString = "5s")
		public void both() {
		}

		@DistributedLock(waitString = "soon")
		public void text() {
		}

	}

	static class Lifecycle implements InitializingBean, DisposableBean {

		@PostConstruct
		@DistributedLock
		public void begin() {
		}

		@PreDestroy
		@DistributedLock
		void end() {
		}

		@Override
		@DistributedLock
		public void afterPropertiesSet() {
		}

		@Override
		@DistributedLock
		public void destroy() {
		}

	}

	static class Injected {

		@Autowired(required = false)
		@DistributedLock
		public void setByType(Optional<String> dependency) {
		}

		@Value("text")
		@DistributedLock
		public void setByValue(String value) {
		}

		@Resource(name = "systemProperties")
		@DistributedLock
		public void setByName(Map<String, Object> properties) {
		}

	}

	static class Named implements AutoCloseable {

		@DistributedLock
		public void open() {
		}

		@Override
		@DistributedLock
		public void close() {
		}

		@DistributedLock
		public void close(String what) {
		}

		@DistributedLock
		public void shutdown() {
		}

	}

	static class Pool {

		@DistributedLock
		public void shutdown() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithInferredMethod extends LockingConfiguration {

		@Bean
		Pool pool() {
			return new Pool();
		}

	}

	@DistributedLock("whole")
	public static class LockedResource implements AutoCloseable {

		@Override
		public void close() {
		}

	}

	@DistributedLock("whole")
	public static class LifecycleOfALockedClass implements InitializingBean, DisposableBean {

		@PostConstruct
		public void begin() {
		}

		@PreDestroy
		public void end() {
		}

		@Override
		public void afterPropertiesSet() {
		}

		@Override
		public void destroy() {
		}

		public void run() {
		}

	}

	@DistributedLock("whole")
	public static class LockedApplicationObject extends ApplicationObjectSupport {

		public void run() {
		}

	}

	static class Names {

		@DistributedLock("  ")
		public void blank() {
		}

		@DistributedLock("12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901")
		public void tooLong() {
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
