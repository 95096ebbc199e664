package dev.dblock.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.DistributedLock;
import dev.dblock.LockOperations;
import dev.dblock.LockTemplate;
import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.execution.DefaultLockTemplate;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mockingDetails;
import static org.mockito.Mockito.verify;

/**
 * Tests of applications whose beans with locked methods are overridden.
 */
class OverriddenBeanTests {

	@Nested
	@SpringJUnitConfig(Application.class)
	class MockOfAField {

		@MockitoBean
		private Orders orders;

		@Test
		void startsAndIsNotLocked(@Autowired RecordingEngine engine) {
			this.orders.settle();
			verify(this.orders).settle();
			assertThat(engine.events()).isEmpty();
		}

	}

	@Nested
	@SpringJUnitConfig(Application.class)
	@MockitoBean(types = Orders.class)
	class MockOfAType {

		@Test
		void starts(@Autowired Orders orders) {
			assertThat(mockingDetails(orders).isMock()).isTrue();
		}

	}

	@Nested
	@SpringJUnitConfig(Application.class)
	class Spy {

		@MockitoSpyBean
		private Orders orders;

		@Test
		void startsAndIsLocked(@Autowired Orders proxy, @Autowired RecordingEngine engine) {
			proxy.settle();
			assertThat(engine.events()).containsExactly("lock orders", "unlock orders");
		}

	}

	@Nested
	@SpringJUnitConfig(Application.class)
	class MockOfTheOperations {

		@MockitoBean
		private LockOperations operations;

		@Test
		void methodsAreRunAndLocked(@Autowired Orders orders, @Autowired RecordingEngine engine) {
			orders.settle();
			assertThat(orders.settled()).containsExactly("all");
			assertThat(engine.events()).containsExactly("lock orders", "unlock orders");
		}

	}

	@Nested
	@SpringJUnitConfig(Application.class)
	class BeanOfTheTest {

		@TestBean
		private Orders orders;

		static Orders orders() {
			return new OrdersOfTheTest();
		}

		@Test
		void starts() {
			assertThat(this.orders).isExactlyInstanceOf(OrdersOfTheTest.class);
		}

	}

	static class OrdersOfTheTest extends Orders {

	}

	static class Orders {

		private final List<String> settled = new ArrayList<>();

		List<String> settled() {
			return this.settled;
		}

		@DistributedLock("orders")
		public void settle() {
			this.settled.add("all");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DblockAopAutoConfiguration.class })
	static class Application {

		@Bean
		RecordingEngine engine() {
			return new RecordingEngine();
		}

		@Bean
		LockTemplate lockTemplate(RecordingEngine engine) {
			return new DefaultLockTemplate(engine);
		}

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

}
