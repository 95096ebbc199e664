package dev.dblock.annotation;

import java.util.concurrent.CompletableFuture;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.CheckedBeans.FinalImplementation;
import dev.dblock.annotation.CheckedBeans.InterfaceProxies;
import dev.dblock.annotation.CheckedBeans.Sound;
import dev.dblock.annotation.CheckedBeans.Task;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.engine.LockEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.util.ClassUtils;

import static dev.dblock.annotation.CheckedBeans.findings;
import static dev.dblock.annotation.CheckedBeans.start;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Tests for the check whether a bean with locked methods has a proxy that locks them.
 */
class LockingProxyCheckTests {

	private static final String HERE = LockingProxyCheckTests.class.getName() + "$";

	@Test
	void classesThatCannotBeProxied() {
		assertThat(findings(FinalClass.class)).containsExactly("bean 'bean', " + HERE
				+ "FinalClass: has locked methods, but the class is final, so no proxy can lock them; open the"
				+ " class");
		assertThat(findings(Recorded.class)).singleElement().asString().contains("the class is final");
		assertThat(findings(Sealed.class)).singleElement().asString().contains("the class is sealed");
		assertThat(
				start((context) -> context.registerBean("bean", PrivateConstructor.class, PrivateConstructor::create))
					.findings())
			.singleElement()
			.asString()
			.contains("the class has private constructors only");
		assertThat(start((context) -> context.registerBean("bean", Enumerated.class, () -> Enumerated.ONE)).findings())
			.singleElement()
			.asString()
			.contains("the class is final");
		assertThat(findings(InterfaceProxies.class, FinalClass.class)).singleElement()
			.asString()
			.contains("the class is final");
		assertThat(findings(FinalImplementation.class)).singleElement().asString().contains("the class is final");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void finalClassWhoseDefinitionExposesItsInterfaces(boolean afterStart) {
		assumeThat(ClassUtils.isPresent("org.springframework.context.annotation.Proxyable", null)).isTrue();
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			context.registerBean("bean", FinalImplementation.class, (definition) -> {
				definition.setLazyInit(afterStart);
				definition.setAttribute(AutoProxyUtils.class.getName() + ".exposedInterfaces", new Class<?>[0]);
			});
			context.registerBean("task", FinalImplementation.class, (definition) -> {
				definition.setLazyInit(afterStart);
				definition.setAttribute(AutoProxyUtils.class.getName() + ".exposedInterfaces", Task.class);
			});
			context.refresh();
			context.getBean("bean", Task.class).run();
			context.getBean("task", Task.class).run();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock task", "unlock task",
					"lock task", "unlock task");
		}
	}

	@Test
	void finalClassWhoseDefinitionPreservesItsClass() {
		assertThat(start(InterfaceProxies.class,
				(context) -> context.registerBean("bean", FinalImplementation.class,
						(definition) -> definition.setAttribute(AutoProxyUtils.PRESERVE_TARGET_CLASS_ATTRIBUTE, true)))
			.findings()).singleElement().asString().contains("the class is final");
	}

	@Test
	void manuallyCreatedBeanWithoutProxy() {
		assertThat(start((context) -> context.getBeanFactory().registerSingleton("bean", new Sound())).findings())
			.containsExactly("bean 'bean', " + Sound.class.getName()
					+ ": has locked methods, but no proxy that locks them, so they would"
					+ " run unlocked: the bean was created too early (a bean post-processor depends on it), or"
					+ " not by Spring; let Spring create it after the post-processors");
	}

	@Test
	void beanWithAForeignProxy() {
		ProxyFactory factory = new ProxyFactory(new Sound());
		factory.setProxyTargetClass(true);
		assertThat(
				start((context) -> context.getBeanFactory().registerSingleton("bean", factory.getProxy())).findings())
			.singleElement()
			.asString()
			.contains("no proxy that locks them");
	}

	@Test
	void opaqueForeignProxyIsIgnored() {
		ProxyFactory factory = new ProxyFactory(new Sound());
		factory.setProxyTargetClass(true);
		factory.setOpaque(true);
		Object proxy = factory.getProxy();
		assertThat(new InspectedBean("bean", Sound.class, proxy).isUnlocked()).isFalse();
		assertThat(new InspectedBean("bean", Sound.class, null).isUnlocked()).isFalse();
	}

	@Test
	void beanThatTwoAutoProxyCreatorsProxy() {
		assertThat(findings(TwoCreators.class, Sound.class)).containsExactly("bean 'bean', " + Sound.class.getName()
				+ ": its methods would be locked twice, by one advisor inside of another; auto-proxy creators besides"
				+ " Spring's own create further proxies with all advisors ('second'): remove them, or restrict them to"
				+ " their own advisors (usePrefix)");
		assertThat(findings(TwoCreators.class, AsyncWork.class)).as("with @Async")
			.singleElement()
			.asString()
			.contains("locked twice");
		assertThat(findings(RestrictedCreator.class, Sound.class)).isEmpty();
		assertThat(findings(RestrictedCreator.class, AsyncWork.class)).isEmpty();
	}

	@Test
	void beanWithTwoLockingAdvisors() {
		assertThat(findings(TwoAdvisors.class, Sound.class)).singleElement()
			.asString()
			.endsWith("by one advisor inside of another; declare a single DistributedLockAdvisor");
	}

	@Test
	void methodThatIsCalledAsynchronouslyInsideOfItsLock() {
		assertThat(findings(AsyncInside.class, AsyncWork.class)).containsExactly("bean 'bean', " + HERE
				+ "AsyncWork#run(): is called asynchronously inside of its lock, which would be released before the work"
				+ " begins; remove the order of @EnableAsync, so that @Async is applied outside of the lock, or return a"
				+ " CompletableFuture");
		assertThat(findings(AsyncOutside.class, AsyncWork.class)).isEmpty();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class TwoCreators extends LockingConfiguration {

		@Bean
		static DefaultAdvisorAutoProxyCreator second() {
			return new DefaultAdvisorAutoProxyCreator();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class RestrictedCreator extends LockingConfiguration {

		@Bean
		static DefaultAdvisorAutoProxyCreator second() {
			DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
			creator.setUsePrefix(true);
			return creator;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoAdvisors extends LockingConfiguration {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor second(ConfigurableListableBeanFactory beanFactory,
				ObjectProvider<LockEngine> engine) {
			return new DistributedLockAdvisor(beanFactory, engine, 0);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
	static class AsyncInside extends LockingConfiguration {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class AsyncOutside extends LockingConfiguration {

	}

	static class AsyncWork {

		@Async
		@DistributedLock("run")
		public void run() {
		}

		@Async
		@DistributedLock("future")
		public CompletableFuture<Void> future() {
			return CompletableFuture.completedFuture(null);
		}

	}

	@Test
	void beanWithoutProxyCreatedEarly() {
		assertThat(findings(NeedsEarly.class, Sound.class)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + Sound.class.getName() + ": has locked methods, but no proxy that locks them");
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

}
