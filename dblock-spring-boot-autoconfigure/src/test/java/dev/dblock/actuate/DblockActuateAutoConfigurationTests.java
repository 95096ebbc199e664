package dev.dblock.actuate;

import java.time.Instant;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.LockTemplate;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobRun;
import dev.dblock.store.LockAdministration;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link DblockActuateAutoConfiguration}.
 */
class DblockActuateAutoConfigurationTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class, DblockActuateAutoConfiguration.class))
		.withBean(LockRepository.class, DblockActuateAutoConfigurationTests::grantingRepository);

	private final ApplicationContextRunner exposed = this.contextRunner
		.withPropertyValues("management.endpoints.web.exposure.include=dblock");

	private static LockRepository grantingRepository() {
		LockRepository repository = mock(LockRepository.class, CALLS_REAL_METHODS);
		given(repository.acquire(any())).willReturn(new AcquireAnswer.Granted(1, 1, Instant.EPOCH, false, null));
		return repository;
	}

	@Test
	void endpointIsThereWhereItIsExposed() {
		this.exposed.run((context) -> assertThat(context).hasSingleBean(DblockEndpoint.class));
		this.contextRunner.run((context) -> assertThat(context).doesNotHaveBean(DblockEndpoint.class));
	}

	@Test
	void endpointShowsTheLocksOfTheEngineBesideOperationsOfTheApplication() {
		LockAdministration locks = mock(LockAdministration.class);
		LockEngine engine = mock(LockEngine.class);
		given(engine.administration()).willReturn(locks);
		this.exposed.withBean(LockEngine.class, () -> engine)
			.withBean(LockTemplate.class, () -> mock(LockTemplate.class))
			.run((context) -> {
				context.getBean(DblockEndpoint.class).lock(new String[] { "stock" }, null);
				then(locks).should().find("stock");
			});
	}

	@Test
	void endpointCanBeSwitchedOff() {
		this.exposed.withPropertyValues("management.endpoint.dblock.access=NONE")
			.run((context) -> assertThat(context).doesNotHaveBean(DblockEndpoint.class));
	}

	@Test
	void endpointNeedsToKnowWhichLocksAreMeant() {
		this.exposed.withBean("one", LockEngine.class, () -> mock(LockEngine.class))
			.withBean("two", LockEngine.class, () -> mock(LockEngine.class))
			.withBean(LockTemplate.class, () -> mock(LockTemplate.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DblockEndpoint.class));
	}

	@Test
	void endpointIsNotRegisteredBesideAnother() {
		DblockEndpoint own = new DblockEndpoint((database) -> null, "");
		this.exposed.withBean("own", DblockEndpoint.class, () -> own)
			.run((context) -> assertThat(context.getBean(DblockEndpoint.class)).isSameAs(own));
	}

	@Test
	void endpointIsAbsentWithoutActuator() {
		this.exposed.withClassLoader(new FilteredClassLoader(Endpoint.class, HealthIndicator.class)).run((context) -> {
			assertThat(context).hasNotFailed()
				.doesNotHaveBean("dblockEndpoint")
				.doesNotHaveBean("dblockHealthIndicator");
			context.getBean(LockTemplate.class).acquire("stock");
		});
	}

	@Test
	void healthIsReported() {
		this.contextRunner.run((context) -> assertThat(context.getBean(LockHealthIndicator.class).health().getStatus())
			.isEqualTo(Status.UP));
	}

	@Test
	void healthCanBeSwitchedOff() {
		this.contextRunner.withPropertyValues("management.health.dblock.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LockHealthIndicator.class));
	}

	@Test
	void healthIsUnknownWithoutLocks() {
		this.contextRunner.withPropertyValues("dblock.mode=none")
			.run((context) -> assertThat(context.getBean(LockHealthIndicator.class).health().getStatus())
				.isEqualTo(Status.UNKNOWN));
	}

	@Test
	void responseTypesOfTheEndpointAreKept() {
		assertAreKept(DblockEndpoint.class, LockPage.class, LockInfo.class, ForcedRelease.class);
		assertAreKept(DblockEndpointWebExtension.class, ReadBody.class);
	}

	@Test
	void responseTypesOfTheEndpointOfJobsAreKept() {
		assertAreKept(DblockJobsEndpoint.class, DblockJobsEndpoint.Jobs.class, JobInfo.class, JobInfo.Schedule.class,
				JobRun.class, JobChange.class);
	}

	private static void assertAreKept(Class<?> endpoint, Class<?>... types) {
		RuntimeHints hints = new RuntimeHints();
		new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, endpoint);
		for (Class<?> type : types) {
			assertThat(RuntimeHintsPredicates.reflection().onType(type)).as(type.getName()).accepts(hints);
		}
	}

}
