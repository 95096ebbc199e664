package dev.dblock.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.micrometer.DefaultLockObservationConvention;
import dev.dblock.micrometer.LockMeters;
import dev.dblock.micrometer.LockObservationContext;
import dev.dblock.micrometer.LockObservationConvention;
import dev.dblock.micrometer.MicrometerLockObserver;
import dev.dblock.micrometer.PermitMeters;
import dev.dblock.observation.LockObserver;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link DblockObservationAutoConfiguration}.
 */
class DblockObservationAutoConfigurationTests {

	private final ApplicationContextRunner bareRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class, DblockAopAutoConfiguration.class,
				DblockObservationAutoConfiguration.class))
		.withBean(LockRepository.class, DblockObservationAutoConfigurationTests::grantingRepository);

	private final ApplicationContextRunner contextRunner = this.bareRunner.withConfiguration(
			AutoConfigurations.of(ObservationAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class,
					MetricsAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class));

	private static LockRepository grantingRepository() {
		LockRepository repository = mock(LockRepository.class, CALLS_REAL_METHODS);
		given(repository.acquire(any())).willReturn(new AcquireAnswer.Granted(1, 1, Instant.EPOCH, false, null));
		given(repository.renew(any(), any())).willReturn(Map.of());
		given(repository.release(any(), any(), any(), any(), any())).willReturn(true);
		given(repository.find(any(), any())).willReturn(Optional.empty());
		return repository;
	}

	@Test
	void annotatedMethodIsTimedUnderTheNameThatItDeclares() {
		this.contextRunner.withUserConfiguration(LockedConfiguration.class).run((context) -> {
			context.getBean(Locked.class).run("march");
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (String timer : new String[] { "dblock.acquire", "dblock.hold" }) {
				assertThat(registry.get(timer).tag("lock", "invoices-#{#month}").timer().count()).isEqualTo(1);
			}
			assertThat(registry.get("dblock.release").tag("outcome", "released").timer().count()).isEqualTo(1);
		});
	}

	@Test
	void timesManualLocksUnderTheirLabel() {
		this.contextRunner.run((context) -> {
			LockTemplate template = context.getBean(LockTemplate.class);
			template.execute("stock-7", LockOptions.defaults().label("stock-*"), () -> {
			});
			assertThat(context.getBean(MeterRegistry.class).get("dblock.hold").tag("lock", "stock-*").timer().count())
				.isEqualTo(1);
		});
	}

	@Test
	void labelsOfSettingsAreTheOnlyValuesOfTheTagHoweverManyNamesThereAre() {
		this.contextRunner
			.withPropertyValues("dblock.locks.[order-*].label=order-*", "dblock.locks.stock.label=warehouse")
			.run((context) -> {
				LockTemplate template = context.getBean(LockTemplate.class);
				for (int id = 0; id < 100; id++) {
					template.execute("order-" + id, () -> {
					});
					template.acquire("order-" + id, LockOptions.defaults().label("order-" + id)).close();
					template.asLock("order-" + id).lock();
				}
				template.acquireAll("stock", "other").close();
				assertThat(context.getBean(MeterRegistry.class).find("dblock.acquire").timers())
					.extracting((timer) -> timer.getId().getTag("lock"))
					.containsOnly("order-*", "warehouse", "none");
			});
	}

	@Test
	void countsTheLocksThatAreHeldAndThoseThatAreLost() {
		this.contextRunner.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			assertThat(registry.get("dblock.locks.held").gauge().value()).isZero();
			LockHandle handle = template.acquire("stock");
			assertThat(registry.get("dblock.locks.held").gauge().value()).isEqualTo(1);
			assertThat(registry.get("dblock.locks.waiting").gauge().value()).isZero();
			given(context.getBean(LockRepository.class).release(any(), any(), any(), any(), any())).willReturn(false);
			assertThat(handle.release()).isFalse();
			assertThat(registry.get("dblock.leases.lost").tag("reason", "taken_over").functionCounter().count())
				.isEqualTo(1);
			assertThat(registry.get("dblock.leases.lost").tag("reason", "expired").functionCounter().count()).isZero();
		});
	}

	@Test
	void countsThePermitsThatAreHeld() {
		this.contextRunner.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			try (LockHandle handle = template.acquire("export-7",
					LockOptions.defaults().permits(3).label("export-*"))) {
				assertThat(handle.isHeld()).isTrue();
				assertThat(registry.get("dblock.permits.held").tag("lock", "export-*").gauge().value()).isEqualTo(1);
				assertThat(registry.get("dblock.permits").tag("lock", "export-*").gauge().value()).isEqualTo(3);
			}
			assertThat(registry.get("dblock.permits.held").tag("lock", "export-*").gauge().value()).isZero();
			assertThat(registry.get("dblock.hold").tag("lock", "export-*").timer().count()).isEqualTo(1);
		});
	}

	@Test
	void readingTheMetersCreatesNoEngine() {
		this.contextRunner.withBean("lockTemplate", LockTemplate.class, () -> mock(LockTemplate.class))
			.run((context) -> {
				assertThat(context.getBean(MeterRegistry.class).get("dblock.locks.held").gauge().value()).isZero();
				assertThat(context.getBeanFactory().containsSingleton("lockEngine")).isFalse();
			});
	}

	@Test
	void applicationCanTagAndObserveByItself() {
		this.contextRunner.withBean(LockObservationConvention.class, BillingConvention::new).run((context) -> {
			context.getBean(LockTemplate.class).acquire("stock").close();
			assertThat(context.getBean(MeterRegistry.class).get("dblock.hold").tag("team", "billing").timer().count())
				.isEqualTo(1);
		});
		this.contextRunner.withBean("own", LockObserver.class, () -> LockObserver.NONE)
			.run((context) -> assertThat(context).hasBean("own")
				.hasSingleBean(PermitMeters.class)
				.doesNotHaveBean(MicrometerLockObserver.class));
	}

	@Test
	void canBeSwitchedOffLikeAnyObservation() {
		this.contextRunner.withPropertyValues("management.observations.enable.dblock=false").run((context) -> {
			context.getBean(LockTemplate.class).acquire("stock").close();
			assertThat(context.getBean(MeterRegistry.class).find("dblock.hold").timer()).isNull();
			assertThat(context.getBean(MeterRegistry.class).find("dblock.locks.held").gauge()).isNotNull();
		});
	}

	@Test
	void absentWithoutRegistries() {
		this.bareRunner.run((context) -> {
			assertThat(context).hasNotFailed()
				.doesNotHaveBean(MicrometerLockObserver.class)
				.doesNotHaveBean(LockMeters.class);
			context.getBean(LockTemplate.class).acquire("stock").close();
		});
	}

	@Test
	void absentWithoutMicrometer() {
		this.bareRunner.withClassLoader(new FilteredClassLoader("io.micrometer")).run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(LockMeters.class);
			context.getBean(LockTemplate.class).acquire("stock").close();
		});
	}

	@Test
	void observesWithoutMeters() {
		this.bareRunner.withClassLoader(new FilteredClassLoader(MeterRegistry.class))
			.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.run((context) -> {
				assertThat(context).hasSingleBean(MicrometerLockObserver.class).doesNotHaveBean(LockMeters.class);
				context.getBean(LockTemplate.class).tryAcquire("stock", LockOptions.defaults().waitUpTo(Duration.ZERO));
			});
	}

	static class BillingConvention extends DefaultLockObservationConvention {

		@Override
		public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
			return super.getLowCardinalityKeyValues(context).and("team", "billing");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LockedConfiguration {

		@Bean
		Locked locked() {
			return new Locked();
		}

	}

	static class Locked {

		@DistributedLock("invoices-#{#month}")
		void run(String month) {
		}

	}

}
