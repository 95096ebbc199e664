package dev.dblock.annotation;

import java.util.List;
import java.util.function.Consumer;

import dev.dblock.DistributedLock;
import dev.dblock.LockTemplate;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Role;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Starts contexts with locked beans, and returns what the check finds.
 */
final class CheckedBeans {

	private CheckedBeans() {
	}

	static List<String> findings(Class<?> bean) {
		return findings(LockingConfiguration.class, bean);
	}

	static List<String> findings(Class<?> configuration, Class<?> bean) {
		InvalidLockDeclarationException ex = start(configuration, (context) -> {
			context.setClassLoader((bean.getClassLoader() != null) ? bean.getClassLoader() : context.getClassLoader());
			context.registerBean("bean", bean);
		});
		return (ex != null) ? ex.findings() : List.of();
	}

	@SafeVarargs
	static InvalidLockDeclarationException start(Consumer<AnnotationConfigApplicationContext>... beans) {
		return start(LockingConfiguration.class, beans);
	}

	@SafeVarargs
	static InvalidLockDeclarationException start(Class<?> configuration,
			Consumer<AnnotationConfigApplicationContext>... beans) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(configuration);
			for (Consumer<AnnotationConfigApplicationContext> bean : beans) {
				bean.accept(context);
			}
			return catchThrowableOfType(InvalidLockDeclarationException.class, context::refresh);
		}
	}

	static void lazy(BeanDefinition definition) {
		definition.setLazyInit(true);
	}

	static void prototype(BeanDefinition definition) {
		definition.setScope(BeanDefinition.SCOPE_PROTOTYPE);
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

	static class Sound {

		@DistributedLock("sound")
		public void run() {
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

}
