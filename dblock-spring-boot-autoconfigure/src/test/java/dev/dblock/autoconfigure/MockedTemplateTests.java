package dev.dblock.autoconfigure;

import dev.dblock.LockOperations;
import dev.dblock.LockTemplate;
import dev.dblock.LockedAction;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentMatchers;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;

/**
 * Tests of applications with a mock in place of the bean that they inject.
 */
class MockedTemplateTests {

	@Nested
	@SpringBootTest(classes = { WithTemplate.class, Locking.class }, properties = "dblock.mode=local")
	class OfTheTemplate extends Injected {

		@MockitoBean
		LockTemplate locks;

		@Override
		LockOperations locks() {
			return this.locks;
		}

	}

	@Nested
	@SpringBootTest(classes = { WithOperations.class, Locking.class }, properties = "dblock.mode=local")
	class OfTheOperations extends Injected {

		@MockitoBean
		LockOperations locks;

		@Override
		LockOperations locks() {
			return this.locks;
		}

	}

	@Nested
	@SpringBootTest(classes = { WithTemplate.class, Locking.class }, properties = "dblock.mode=local")
	class OfTheOperationsWhereTheTemplateIsInjected extends Injected {

		@MockitoBean(extraInterfaces = LockTemplate.class)
		LockOperations locks;

		@Override
		LockOperations locks() {
			return this.locks;
		}

	}

	abstract static class Injected {

		abstract LockOperations locks();

		@Test
		void isInjected(@Autowired Stock stock, @Autowired LockRegistry<?> registry) {
			given(locks().execute(any(), ArgumentMatchers.<LockedAction<String>>any())).willReturn("mocked");
			assertThat(stock.reserve()).isEqualTo("mocked");
			assertThat(registry.obtain("registry").tryLock()).isTrue();
			registry.obtain("registry").unlock();
		}

	}

	record Stock(LockOperations locks) {

		String reserve() {
			return this.locks.execute("stock", () -> "reserved");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DblockAutoConfiguration.class, DblockIntegrationAutoConfiguration.class })
	static class Locking {

	}

	@Configuration(proxyBeanMethods = false)
	static class WithTemplate {

		@Bean
		Stock stock(LockTemplate locks) {
			return new Stock(locks);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithOperations {

		@Bean
		Stock stock(LockOperations locks) {
			return new Stock(locks);
		}

	}

}
