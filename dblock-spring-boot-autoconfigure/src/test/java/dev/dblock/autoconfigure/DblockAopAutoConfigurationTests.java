package dev.dblock.autoconfigure;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.DistributedLockAdvisor;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class DblockAopAutoConfigurationTests {

	private static final String NOT_ELIGIBLE = "is not eligible for getting processed by all BeanPostProcessors";

	private final ApplicationContextRunner bare = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(PropertyPlaceholderAutoConfiguration.class, AopAutoConfiguration.class, DblockAopAutoConfiguration.class));

	private final ApplicationContextRunner contextRunner = this.bare.withBean(RecordingEngine.class)
		.withBean(DefaultLockTemplate.class)
		.withBean(Job.class);

	@Test
	void locksMethodsByClassProxies() {
		this.contextRunner.run((context) -> {
			assertLocks(context);
			assertThat(AopUtils.isCglibProxy(context.getBean(Job.class))).isTrue();
		});
	}

	@Test
	void locksMethodsWithoutBootsAop() {
		this.contextRunner.withPropertyValues("spring.aop.auto=false").run((context) -> {
			assertLocks(context);
			assertThat(AopUtils.isCglibProxy(context.getBean(Job.class))).isTrue();
		});
	}

	@Test
	void locksMethodsWithoutAspectj() {
		this.contextRunner.withClassLoader(new FilteredClassLoader("org.aspectj")).run((context) -> {
			assertLocks(context);
			assertThat(AopUtils.isCglibProxy(context.getBean(Job.class))).isTrue();
		});
	}

	@Test
	void locksMethodsByInterfaceProxiesWhenBootIsConfiguredSo() {
		for (String auto : new String[] { "true", "false" }) {
			this.contextRunner.withPropertyValues("spring.aop.proxy-target-class=false", "spring.aop.auto=" + auto)
				.run((context) -> {
					assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Runnable.class))).isTrue();
					context.getBean(Runnable.class).run();
					assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock job",
							"unlock job");
				});
		}
	}

	@Test
	void orderIsBetweenRetriesAndCaches() {
		this.contextRunner.run((context) -> assertThat(context.getBean(DistributedLockAdvisor.class).getOrder())
			.isEqualTo(Ordered.LOWEST_PRECEDENCE - 100));
	}

	@Test
	void orderIsTheDefaultOfTheProperty() {
		assertThat(new Binder().bindOrCreate("dblock", DblockProperties.class).advisorOrder())
			.isEqualTo(DistributedLockAdvisor.DEFAULT_ORDER);
	}

	@Test
	void orderIsAProperty() {
		this.contextRunner.withPropertyValues("dblock.advisor-order=42")
			.run((context) -> assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(42));
		this.contextRunner.withPropertyValues("dblock.advisorOrder=43")
			.run((context) -> assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(43));
	}

	@Test
	void orderThatIsNoNumberStopsTheStart() {
		this.contextRunner.withPropertyValues("dblock.advisor-order=first")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("first"));
	}

	@Test
	void placeholdersComeFromTheEnvironment() {
		this.contextRunner.withBean(Placeholder.class).withPropertyValues("zone=north").run((context) -> {
			context.getBean(Placeholder.class).run();
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock job-north",
					"unlock job-north");
		});
	}

	@Test
	void brokenPlaceholderStopsTheStart() {
		this.contextRunner.withBean(Placeholder.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidLockDeclarationException.class)
				.hasMessageContaining("Could not resolve placeholder 'zone'"));
	}

	@Test
	void advisorOfTheApplicationComesFirst() {
		this.contextRunner.withUserConfiguration(OwnAdvisor.class).run((context) -> {
			assertLocks(context);
			assertThat(context).getBean(DistributedLockAdvisor.class)
				.extracting(DistributedLockAdvisor::getOrder)
				.isEqualTo(7);
		});
	}

	@Test
	void startsWithoutLocksWhenNothingIsLocked() {
		this.bare.run((context) -> assertThat(context).getBean("dblockDeclarationChecker")
			.isInstanceOf(SmartInitializingSingleton.class));
	}

	@Test
	void lockedMethodsNeedSomethingToLockWith() {
		this.bare.withBean(Job.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidLockDeclarationException.class)
				.hasMessageContaining("Tests.Job', ")
				.hasMessageContaining("there is no LockEngine bean to lock them with"));
	}

	@Test
	void libraryThatIsMissingIsNamedFirst() {
		this.bare.withClassLoader(new FilteredClassLoader("com.mongodb.client"))
			.withPropertyValues("dblock.mode=none")
			.withBean(Job.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("there is no MongoDB driver (org.mongodb:mongodb-driver-sync) on the class path")
				.hasMessageNotContaining("spring-data-mongodb)")
				.hasMessageNotContaining("dblock.mode"));
		this.bare.withClassLoader(new FilteredClassLoader("org.springframework.data.mongodb"))
			.withBean(Job.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining(
						"there is no Spring Data MongoDB (org.springframework.data:spring-data-mongodb)"));
	}

	@Test
	void lazyBeansAreCheckedAtTheStart() {
		this.contextRunner
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.withBean(Placeholder.class)
			.run((context) -> assertThat(context).getFailure().isInstanceOf(InvalidLockDeclarationException.class));
	}

	@Test
	void noBeanIsCreatedEarly(CapturedOutput output) {
		this.contextRunner.withUserConfiguration(AdvisorOrderTests.Everything.class, InnocentProcessor.class)
			.run((context) -> assertLocks(context));
		assertThat(output).doesNotContain(NOT_ELIGIBLE);
	}

	@Test
	void beanThatIsCreatedEarlyWouldBeSeen(CapturedOutput output) {
		this.contextRunner.withUserConfiguration(HastyProcessor.class).run((context) -> {
		});
		assertThat(output).contains(NOT_ELIGIBLE);
	}

	private static void assertLocks(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed();
		RecordingEngine engine = context.getBean(RecordingEngine.class);
		context.getBean(Job.class).run();
		assertThat(engine.events()).containsExactly("lock job", "unlock job");
	}

	public static class Job implements Runnable {

		@Override
		@DistributedLock("job")
		public void run() {
		}

	}

	static class Placeholder {

		@DistributedLock("job-${zone}")
		public void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnAdvisor {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor own(ConfigurableListableBeanFactory beanFactory,
				ObjectProvider<LockEngine> engine) {
			return new DistributedLockAdvisor(beanFactory, engine, 7);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InnocentProcessor {

		@Bean
		static BeanPostProcessor innocentProcessor() {
			return new BeanPostProcessor() {
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HastyProcessor {

		@Bean
		static BeanPostProcessor hastyProcessor(RecordingEngine engine) {
			return new BeanPostProcessor() {
			};
		}

	}

}
