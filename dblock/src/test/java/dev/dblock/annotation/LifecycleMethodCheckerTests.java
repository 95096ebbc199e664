package dev.dblock.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.RecordingEngine;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.annotation.AliasFor;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Tests for {@link LifecycleMethodChecker}.
 */
class LifecycleMethodCheckerTests {

	private static final String HERE = LifecycleMethodCheckerTests.class.getName() + "$";

	private static final String OBSTACLE = "(): is called by Spring without the proxy that locks it; move the work into"
			+ " a locked method of another bean, or into an ApplicationRunner";

	private static final List<String> ran = new ArrayList<>();

	@BeforeEach
	void forget() {
		ran.clear();
	}

	@ParameterizedTest
	@ValueSource(classes = { Initialized.class, ByInterface.class, ByLockedInterface.class, Injected.class, Named.class,
			Destroyed.class, Creating.class })
	void lockedLifecycleMethodNeverRuns(Class<?> type) {
		assertThat(refusal((context) -> context.registerBean("bean", type)).findings()).singleElement()
			.asString()
			.startsWith("bean 'bean', " + type.getName() + "#")
			.contains("is called by Spring without the proxy that locks it");
		assertThat(ran).isEmpty();
	}

	@Test
	void methodThatTheDefinitionNamesNeverRuns() {
		InvalidLockDeclarationException refusal = refusal((context) -> {
			RootBeanDefinition definition = new RootBeanDefinition(InitMethod.class);
			definition.setInitMethodName("open");
			context.registerBeanDefinition("bean", definition);
		});
		assertThat(refusal.findings()).containsExactly("bean 'bean', " + HERE + "InitMethod#open" + OBSTACLE);
		assertThat(ran).isEmpty();
	}

	@Test
	void lifecycleMethodsOfAllBeansAreReportedTogether() {
		InvalidLockDeclarationException refusal = refusal((context) -> {
			context.registerBean("second", ByInterface.class);
			context.registerBean("first", Initialized.class);
			context.registerBean("lazy", Injected.class, LifecycleMethodCheckerTests::lazy);
			context.registerBean("factory", LockedFactory.class);
		});
		assertThat(refusal.findings()).containsExactly(
				"bean 'factory', " + HERE + "LockedFactory#afterPropertiesSet" + OBSTACLE,
				"bean 'first', " + HERE + "Initialized#begin" + OBSTACLE,
				"bean 'lazy', " + HERE + "Injected#setContext(ApplicationContext)" + OBSTACLE.substring(2),
				"bean 'second', " + HERE + "ByInterface#afterPropertiesSet" + OBSTACLE);
		assertThat(ran).isEmpty();
	}

	@Test
	void classThatIsKnownOnlyWhenItsBeanIsCreatedIsRefusedThen() {
		assertThat(refusal((context) -> context.registerBean("bean", Runnable.class, Initialized::new)).findings())
			.containsExactly("bean 'bean', " + HERE + "Initialized#begin" + OBSTACLE);
		assertThat(ran).isEmpty();
	}

	@Test
	void classOfALaterBeanIsRefusedEachTime() {
		try (AnnotationConfigApplicationContext context = context((bean) -> {
			bean.registerBean("lazy", Runnable.class, Initialized::new, LifecycleMethodCheckerTests::lazy);
			bean.registerBean("prototype", Runnable.class, Initialized::new,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
		})) {
			context.refresh();
			for (String name : List.of("lazy", "lazy", "prototype", "prototype")) {
				assertThat(refusal(() -> context.getBean(name)).findings())
					.contains("bean '" + name + "', " + HERE + "Initialized#begin" + OBSTACLE);
			}
		}
		assertThat(ran).isEmpty();
	}

	@Test
	void lockedClassWithLifecycleMethodsStarts() {
		try (AnnotationConfigApplicationContext context = context(
				(bean) -> bean.registerBean("bean", LockedClass.class))) {
			context.refresh();
			assertThat(ran).containsExactly("setBeanName", "begin");
		}
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void listenersInACircularReferenceAreWarnedOfAndOtherMethodsRemainLocked(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = context((bean) -> {
			bean.registerBean("circle", Circle.class);
			bean.registerBean("client", CircleClient.class);
		})) {
			context.refresh();
			context.getBean(CircleClient.class).circle.run();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock run", "unlock run");
		}
		assertThat(output).containsOnlyOnce("runs without its lock")
			.contains("bean 'circle', " + HERE + "Circle#onMessage(String): runs without its lock if a bean"
					+ " post-processor calls it");
	}

	static class Circle {

		@Autowired
		CircleClient client;

		@Transactional
		@Exclusive("run")
		public void run() {
		}

		@Listener
		@DistributedLock("listen")
		public void onMessage(String message) {
		}

	}

	static class CircleClient {

		@Autowired
		Circle circle;

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Listener {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock
	@interface Exclusive {

		@AliasFor(annotation = DistributedLock.class, attribute = "name")
		String value();

	}

	private static void lazy(BeanDefinition definition) {
		definition.setLazyInit(true);
	}

	private static InvalidLockDeclarationException refusal(Consumer<AnnotationConfigApplicationContext> beans) {
		try (AnnotationConfigApplicationContext context = context(beans)) {
			return refusal(context::refresh);
		}
	}

	private static InvalidLockDeclarationException refusal(Runnable start) {
		BeanCreationException failure = catchThrowableOfType(BeanCreationException.class, start::run);
		assertThat(failure).rootCause().isInstanceOf(InvalidLockDeclarationException.class);
		return (InvalidLockDeclarationException) failure.getRootCause();
	}

	private static AnnotationConfigApplicationContext context(Consumer<AnnotationConfigApplicationContext> beans) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.register(LockingConfiguration.class);
		context.registerBean(LifecycleMethodChecker.class, () -> new LifecycleMethodChecker(context.getBeanFactory()));
		beans.accept(context);
		return context;
	}

	static class Initialized implements Runnable {

		@PostConstruct
		@DistributedLock
		private void begin() {
			ran.add("begin");
		}

		@Override
		public void run() {
		}

	}

	static class ByInterface implements InitializingBean {

		@Override
		@DistributedLock
		public void afterPropertiesSet() {
			ran.add("afterPropertiesSet");
		}

	}

	interface LockedStart {

		@DistributedLock
		void begin();

	}

	static class ByLockedInterface implements LockedStart {

		@Override
		@PostConstruct
		public void begin() {
			ran.add("begin");
		}

	}

	static class Injected {

		@Autowired
		@DistributedLock
		public void setContext(ApplicationContext context) {
			ran.add("setContext");
		}

	}

	static class Named implements BeanNameAware {

		@Override
		@DistributedLock
		public void setBeanName(String name) {
			ran.add("setBeanName");
		}

	}

	static class Destroyed implements DisposableBean {

		@Override
		@DistributedLock
		public void destroy() {
			ran.add("destroy");
		}

	}

	static class Creating {

		@Autowired
		private ApplicationContext context;

		@PostConstruct
		@DistributedLock("create-#{#id}")
		void begin() {
			ran.add("begin " + this.context);
		}

	}

	static class InitMethod {

		@DistributedLock
		public void open() {
			ran.add("open");
		}

	}

	static class LockedFactory implements FactoryBean<String>, InitializingBean {

		@Override
		public String getObject() {
			return "product";
		}

		@Override
		public Class<?> getObjectType() {
			return String.class;
		}

		@Override
		@DistributedLock
		public void afterPropertiesSet() {
			ran.add("afterPropertiesSet");
		}

	}

	@DistributedLock("whole")
	public static class LockedClass implements BeanNameAware {

		@Override
		public void setBeanName(String name) {
			ran.add("setBeanName");
		}

		@PostConstruct
		public void begin() {
			ran.add("begin");
		}

		public void run() {
		}

	}

}
