package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.LockAssert;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockNamePrefix;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenUnavailable;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.settings.EngineSettingsCustomizer;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests of prefixes that depend on the call.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class LockNamePrefixTests {

	private static final ThreadLocal<String> TENANT = new ThreadLocal<>();

	private static final AtomicInteger CALLS = new AtomicInteger();

	private final MongoServer server;

	private ApplicationContextRunner contextRunner;

	LockNamePrefixTests(MongoServer server) {
		this.server = server;
	}

	@BeforeEach
	void start() {
		CALLS.set(0);
		Job.CALLED.set(0);
		this.contextRunner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class,
					AopAutoConfiguration.class, DblockAutoConfiguration.class, DblockAopAutoConfiguration.class))
			.withUserConfiguration(TenantConfiguration.class)
			.withPropertyValues("spring.mongodb.uri=" + this.server.uri(this.server.freshDatabase()),
					"dblock.name-prefix=shop-");
	}

	@AfterEach
	void noTenant() {
		TENANT.remove();
	}

	@Test
	void tenantsDoNotLockEachOtherOut() {
		this.contextRunner.run((context) -> {
			LockTemplate template = context.getBean(LockTemplate.class);
			TENANT.set("acme");
			try (LockHandle acme = template.acquire("stock")) {
				assertThat(acme.name()).isEqualTo("shop-acme:stock");
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> context.getBean(Job.class).stock())
					.withMessageContaining("shop-acme:stock");
				TENANT.set("other");
				assertThat(context.getBean(Job.class).stock()).isEqualTo("shop-other:stock");
				assertThat(template.tryAcquire("global-report").orElseThrow().name()).isEqualTo("shop-global-report");
			}
		});
	}

	@Test
	void reentersUnderTheFullName() {
		this.contextRunner.run((context) -> {
			TENANT.set("acme");
			Job job = context.getBean(Job.class);
			assertThat(context.getBean(LockTemplate.class).<String>execute("stock", job::stock))
				.isEqualTo("shop-acme:stock");
		});
	}

	@Test
	void reactiveMethodsLockTheNamesOfTheirSubscribers() {
		this.contextRunner.run((context) -> {
			LockTemplate template = context.getBean(LockTemplate.class);
			Job job = context.getBean(Job.class);
			TENANT.set("acme");
			try (LockHandle acme = template.acquire("stock")) {
				assertThat(acme.name()).isEqualTo("shop-acme:stock");
				assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> job.later().block())
					.withMessageContaining("shop-acme:stock");
				assertThat(job.bothLater().block()).isNull();
			}
			assertThat(job.later().block()).isEqualTo("shop-acme:stock");
			assertThat(job.bothLater().block()).isEqualTo("shop-acme:stock");
		});
	}

	@Test
	void reactiveMethodsReenterTheLocksOfTheirSubscribers() {
		this.contextRunner.run((context) -> {
			TENANT.set("acme");
			Job job = context.getBean(Job.class);
			assertThat(context.getBean(LockTemplate.class).<String>execute("stock", () -> job.later().block()))
				.isEqualTo("shop-acme:stock");
		});
	}

	@Test
	void reactiveMethodsRunWithoutAPrefixOfTheirThreadIfLockingIsDisabled() {
		this.contextRunner.withPropertyValues("dblock.mode=none").run((context) -> {
			TENANT.set("acme");
			assertThat(context.getBean(Job.class).later().block()).isEqualTo("shop-acme:stock");
		});
	}

	@Test
	void isNotAskedForAtTheStart() {
		this.contextRunner.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(CALLS).as("calls for a prefix").hasValue(0);
		});
	}

	@Test
	void countsForTheLength() {
		this.contextRunner.run((context) -> {
			TENANT.set("t".repeat(990));
			assertThatIllegalArgumentException().isThrownBy(() -> context.getBean(Job.class).stock())
				.withMessageContaining("1000 bytes");
		});
	}

	@Test
	void withoutOneTheMethodIsNotCalled() {
		this.contextRunner.run((context) -> {
			Job job = context.getBean(Job.class);
			assertThatIllegalStateException().isThrownBy(job::stock).withMessage("no tenant");
			TENANT.set("null");
			assertThatIllegalArgumentException().isThrownBy(job::stock)
				.withMessageStartingWith(
						"The LockNamePrefix bean 'tenantPrefix' returned null as the prefix of the lock 'stock'")
				.withMessageContaining("empty text");
			assertThat(Job.CALLED).hasValue(0);
		});
	}

	@Test
	void theOneOfSeveralThatGivesNullIsNamed() {
		this.contextRunner.withUserConfiguration(EnvironmentConfiguration.class).run((context) -> {
			TENANT.set("null");
			assertThatIllegalArgumentException().isThrownBy(() -> context.getBean(Job.class).stock())
				.withMessageStartingWith("The LockNamePrefix bean 'tenantPrefix' returned null");
		});
	}

	@Test
	void operatorsFindLocksByTheirFullNames() {
		this.contextRunner.run((context) -> {
			LockTemplate template = context.getBean(LockTemplate.class);
			TENANT.set("acme");
			template.acquire("stock").close();
			TENANT.remove();
			assertThat(template.listAll("", 10).locks()).singleElement()
				.satisfies((lock) -> assertThat(lock.name()).isEqualTo("shop-acme:stock"));
		});
	}

	@Test
	void settingsGoByTheNameWithoutThePrefixes() {
		this.contextRunner.withPropertyValues("dblock.locks.stock.lease=99s").run((context) -> {
			TENANT.set("acme");
			assertThat(context.getBean(LockTemplate.class).acquire("stock").remaining().toSeconds()).isGreaterThan(60);
		});
	}

	@Test
	void severalComeInTheirOrder() {
		this.contextRunner.withUserConfiguration(EnvironmentConfiguration.class).run((context) -> {
			TENANT.set("acme");
			assertThat(context.getBean(Job.class).stock()).isEqualTo("shop-test/acme:stock");
		});
	}

	@Test
	void engineIsCustomized() {
		this.contextRunner
			.withBean(EngineSettingsCustomizer.class,
					() -> (settings) -> settings.withAcquirer("pod-7")
						.withDefaults(LockOptions.lease(Duration.ofSeconds(98))))
			.run((context) -> {
				TENANT.set("acme");
				LockTemplate template = context.getBean(LockTemplate.class);
				try (LockHandle handle = template.acquire("stock")) {
					assertThat(template.inspect("stock").orElseThrow().acquirer()).isEqualTo("pod-7");
					assertThat(handle.remaining().toSeconds()).isGreaterThan(60);
				}
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class TenantConfiguration {

		@Bean
		LockNamePrefix tenantPrefix() {
			return (name) -> {
				CALLS.incrementAndGet();
				if (name.startsWith("global-")) {
					return "";
				}
				if (TENANT.get() == null) {
					throw new IllegalStateException("no tenant");
				}
				return TENANT.get().equals("null") ? null : TENANT.get() + ":";
			};
		}

		@Bean
		Job job() {
			return new Job();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EnvironmentConfiguration {

		@Bean
		@Order(-1)
		LockNamePrefix environmentPrefix() {
			return (name) -> "test/";
		}

	}

	static class Job {

		static final AtomicInteger CALLED = new AtomicInteger();

		@DistributedLock("stock")
		public String stock() {
			CALLED.incrementAndGet();
			return LockContext.current().orElseThrow().name();
		}

		@DistributedLock("stock")
		public Mono<String> later() {
			return ReactiveLockTemplate.current().map(LockHandle::name);
		}

		@DistributedLock(value = "stock", whenUnavailable = WhenUnavailable.SKIP)
		@DistributedLock(value = "orders", whenUnavailable = WhenUnavailable.SKIP)
		public Mono<String> bothLater() {
			LockAssert.assertLocked("orders");
			return ReactiveLockTemplate.current().map(LockHandle::name);
		}

	}

}
