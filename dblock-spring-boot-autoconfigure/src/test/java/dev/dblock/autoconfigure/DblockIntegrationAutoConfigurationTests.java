package dev.dblock.autoconfigure;

import dev.dblock.LockOperations;
import dev.dblock.integration.DblockLockRegistry;
import dev.dblock.integration.DblockLockRegistry6;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link DblockIntegrationAutoConfiguration}.
 */
class DblockIntegrationAutoConfigurationTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockIntegrationAutoConfiguration.class,
				DblockAutoConfiguration.class, MongoAutoConfiguration.class, DataMongoAutoConfiguration.class))
		.withPropertyValues("spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100");

	@Test
	void thereIsARegistryWhereverSpringIntegrationIs() {
		this.contextRunner.run((context) -> {
			assertThat(context).hasSingleBean(LockRegistry.class);
			assertThat(context).hasSingleBean(DblockLockRegistry.class);
			assertThat(context.getBean(ExpirableLockRegistry.class)).isSameAs(context.getBean(LockRegistry.class));
			assertThat(context.getBean(RenewableLockRegistry.class)).isSameAs(context.getBean("lockRegistry"));
		});
	}

	@Test
	void itIsInjectedByItsTypeOfLock() {
		this.contextRunner.withUserConfiguration(TakesLocks.class)
			.run((context) -> assertThat(context.getBean(TakesLocks.class).locks)
				.isSameAs(context.getBean(DblockLockRegistry.class)));
	}

	@Test
	void thereIsNoneWithoutSpringIntegration() {
		this.contextRunner.withClassLoader(new FilteredClassLoader(LockRegistry.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("lockRegistry"));
	}

	@Test
	void versionSixHasOneWithoutLaterTypes() {
		this.contextRunner.withClassLoader(new FilteredClassLoader(DistributedLock.class)).run((context) -> {
			assertThat(context).hasSingleBean(LockRegistry.class);
			assertThat(context).hasSingleBean(DblockLockRegistry6.class);
		});
	}

	@Test
	void backsOffBeforeTheApplicationsOwn() {
		this.contextRunner.withBean("mine", LockRegistry.class, DefaultLockRegistry::new)
			.run((context) -> assertThat(context).hasSingleBean(LockRegistry.class).hasBean("mine"));
	}

	@Test
	void needsNoTemplate() {
		this.contextRunner.withBean(LockOperations.class, () -> mock(LockOperations.class))
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LockRegistry.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class TakesLocks {

		private final LockRegistry<DistributedLock> locks;

		TakesLocks(LockRegistry<DistributedLock> locks) {
			this.locks = locks;
		}

		@Bean
		String needsAnyRegistry(ObjectProvider<LockRegistry<?>> registry) {
			return registry.getObject().toString();
		}

	}

}
