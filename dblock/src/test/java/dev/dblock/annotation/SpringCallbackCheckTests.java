package dev.dblock.annotation;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.CheckedBeans.Sound;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.RecordingEngine;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.annotation.Resource;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static dev.dblock.annotation.CheckedBeans.findings;
import static dev.dblock.annotation.CheckedBeans.start;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the check of locked methods that Spring calls without the proxy.
 */
class SpringCallbackCheckTests {

	private static final String HERE = SpringCallbackCheckTests.class.getName() + "$";

	@Test
	void methodsThatSpringCallsWithoutTheProxy() {
		assertThat(findings(Lifecycle.class)).hasSize(4)
			.allMatch((finding) -> finding.endsWith("(): is called by Spring without the proxy that locks it; move the"
					+ " work into a locked method of another bean, or into an ApplicationRunner"));
	}

	@Test
	void methodsThatSpringInjectsInto() {
		assertThat(findings(Injected.class)).hasSize(3)
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
	 * Returns the methods of {@link Named} that are refused because of its definition.
	 */
	private static List<String> callbacks(Consumer<RootBeanDefinition> names) {
		InvalidLockDeclarationException ex = start((context) -> {
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
		assertThat(findings(LockedResource.class)).isEmpty();
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

}
