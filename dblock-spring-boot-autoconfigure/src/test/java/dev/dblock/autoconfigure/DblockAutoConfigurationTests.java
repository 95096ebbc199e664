package dev.dblock.autoconfigure;

import org.springframework.util.ClassUtils;
import org.springframework.core.type.MethodMetadata;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.jupiter.params.ParameterizedTest;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import dev.dblock.job.JobOperations;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import com.mongodb.client.MongoClient;
import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockOperations;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.engine.LockEngine;
import dev.dblock.event.LockListener;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.MongoOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockingDetails;

/**
 * Tests for {@link DblockAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class DblockAutoConfigurationTests {

	/**
	 * By these, an application refers to a bean, or hides that of a parent context.
	 */
	private static final List<String> USUAL_NAMES = List.of("lockEngine", "lockRegistry", "lockTemplate",
			"reactiveLockTemplate");

	private static final LockOptions WAITING = LockOptions.defaults().waitUpTo(Duration.ofMillis(100));

	private final ApplicationContextRunner bareRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class));

	/**
	 * Nothing listens on port 1, so these applications start without a server.
	 */
	private final ApplicationContextRunner contextRunner = this.bareRunner
		.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class))
		.withPropertyValues("spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100");

	@Test
	void startsWithoutAServer() {
		this.contextRunner.run((context) -> {
			assertThat(context).hasSingleBean(DefaultLockEngine.class);
			assertThat(context).hasSingleBean(LockTemplate.class);
			assertThat(context).hasSingleBean(MongoLockRepository.class);
			assertThat(DefaultLockTemplate.of(context.getBean(LockTemplate.class)).engine())
				.isSameAs(context.getBean(LockEngine.class));
		});
	}

	@Test
	void placeOfTheLocksIsLoggedOnce(CapturedOutput output) {
		this.contextRunner.withPropertyValues("dblock.acquirer=invoices-1", "dblock.lease=45s").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output.getOut().lines().filter((line) -> line.contains("dev.dblock"))).singleElement()
				.asString()
				.contains("INFO")
				.endsWith(": Locks are in MongoDB (database 'test', collection 'dblock_locks'), lease 45 s, acquirer"
						+ " invoices-1");
		});
	}

	@Test
	void isListedAmongTheAutoConfigurations() {
		assertThat(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader()).getCandidates())
			.contains(DblockAutoConfiguration.class.getName());
	}

	@Test
	void conditionsOnClassesAreKnownBeforeAnAutoConfigurationIsRead() throws IOException {
		Properties known = PropertiesLoaderUtils.loadAllProperties("META-INF/spring-autoconfigure-metadata.properties");
		assertThat(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader()))
			.filteredOn((name) -> name.startsWith("dev.dblock."))
			.isNotEmpty()
			.allSatisfy((name) -> assertThat(known).containsKey(name));
		assertThat(known.getProperty(DblockReactiveAutoConfiguration.class.getName() + ".ConditionalOnClass"))
			.isEqualTo(Mono.class.getName());
	}

	/**
	 * A bean of another type with the same name would keep the application from starting.
	 */
	@Test
	void allBeansHaveThePrefix() {
		Class<?>[] all = ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader())
			.getCandidates()
			.stream()
			.filter((name) -> name.startsWith("dev.dblock."))
			.map((name) -> ClassUtils.resolveClassName(name, null))
			.toArray(Class<?>[]::new);
		this.contextRunner.withConfiguration(AutoConfigurations.of(all))
			.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.withBean(SimpleMeterRegistry.class)
			.withPropertyValues("management.endpoints.jmx.exposure.include=*", "spring.jmx.enabled=true")
			.run((context) -> {
				assertThat(context).hasNotFailed().hasSingleBean(JobOperations.class).hasBean("dblockEndpoint");
				assertThat(context.getBeanDefinitionNames()).filteredOn((bean) -> {
					MethodMetadata method = (context.getBeanFactory()
						.getBeanDefinition(bean) instanceof AnnotatedBeanDefinition annotated)
								? annotated.getFactoryMethodMetadata() : null;
					return method != null && method.getDeclaringClassName().startsWith("dev.dblock.");
				})
					.hasSizeGreaterThan(20)
					.contains(USUAL_NAMES.toArray(String[]::new))
					.filteredOn((bean) -> !USUAL_NAMES.contains(bean))
					.allSatisfy((bean) -> assertThat(bean).startsWith("dblock"));
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "off", "no", "0" })
	void plannedTimesAreSwitchedOffHoweverThatIsWritten(String off) {
		this.contextRunner
			.withConfiguration(
					AutoConfigurations.of(DblockAopAutoConfiguration.class, DblockJobsAutoConfiguration.class))
			.withPropertyValues("dblock.once-per-planned-time=" + off)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(JobOperations.class));
	}

	@Test
	void noBeanIsCreatedEarly(CapturedOutput output) {
		this.contextRunner.withConfiguration(AutoConfigurations.of(DblockAopAutoConfiguration.class))
			.withUserConfiguration(ListenersConfiguration.class, LockedConfiguration.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(AopUtils.isAopProxy(context.getBean("locked"))).isTrue();
				assertThat(output).doesNotContain("not eligible");
			});
	}

	@Test
	void applicationKeepsItsOnlyMongoTemplate() {
		this.contextRunner.run((context) -> assertThat(context.getBeanNamesForType(MongoOperations.class))
			.containsExactly("mongoTemplate"));
	}

	@Test
	void absentWithoutTheDriver() {
		this.contextRunner.withClassLoader(new FilteredClassLoader(MongoClient.class))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockEngine.class)
				.doesNotHaveBean(LockTemplate.class)
				.doesNotHaveBean(DblockProperties.class));
	}

	@Test
	void absentWithoutSpringDataMongodb() {
		this.bareRunner.withClassLoader(new FilteredClassLoader(MongoDatabaseFactory.class))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockEngine.class)
				.doesNotHaveBean(LockTemplate.class)
				.doesNotHaveBean(DblockProperties.class));
	}

	@Test
	void ownRepositoryNeedsNoMongodb() {
		LockRepository own = mock(LockRepository.class, CALLS_REAL_METHODS);
		this.bareRunner.withBean(LockRepository.class, () -> own).run((context) -> {
			assertThat(context).hasSingleBean(LockRepository.class);
			context.getBean(LockTemplate.class).inspect("stock");
			assertThat(mockingDetails(own).getInvocations()).isNotEmpty();
		});
	}

	@Test
	void ownEngineNeedsNoMongodb() {
		LockEngine own = mock(LockEngine.class);
		this.bareRunner.withBean(LockEngine.class, () -> own).run((context) -> {
			assertThat(context).hasSingleBean(LockEngine.class);
			assertThat(DefaultLockTemplate.of(context.getBean(LockTemplate.class)).engine()).isSameAs(own);
		});
	}

	@Test
	void customOperationsReplaceTheTemplate() {
		LockOperations own = mock(LockOperations.class);
		this.contextRunner.withBean(LockOperations.class, () -> own).run((context) -> {
			assertThat(context.getBean(LockOperations.class)).isSameAs(own);
			assertThat(context).doesNotHaveBean(LockTemplate.class).hasSingleBean(LockEngine.class);
		});
	}

	@Test
	void ownOperationsNeedNoMongodb() {
		this.bareRunner.withConfiguration(AutoConfigurations.of(DblockAopAutoConfiguration.class))
			.withBean(LockOperations.class, () -> mock(LockOperations.class))
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LockOperations.class));
	}

	@Test
	void lockedMethodsNeedMongodbBesideOwnOperations() {
		this.bareRunner.withConfiguration(AutoConfigurations.of(DblockAopAutoConfiguration.class))
			.withUserConfiguration(LockedConfiguration.class)
			.withBean(LockOperations.class, () -> mock(LockOperations.class))
			.run((context) -> assertThat(analyze(context.getStartupFailure()).getAction())
				.contains("spring.mongodb.uri"));
	}

	@Test
	void lockedMethodsRunUnlockedBesideOwnOperations() {
		this.bareRunner.withConfiguration(AutoConfigurations.of(DblockAopAutoConfiguration.class))
			.withPropertyValues("dblock.mode=none")
			.withUserConfiguration(LockedConfiguration.class)
			.withBean(LockOperations.class, () -> mock(LockOperations.class))
			.run((context) -> {
				context.getBean(Locked.class).run();
				assertThat(context).getBean(LockEngine.class)
					.hasSameClassAs(LockEngine.unlocked(EngineSettings.defaults("test")));
			});
	}

	@Test
	void ownTemplateIsTheOnlyOne() {
		this.contextRunner.withUserConfiguration(OwnTemplateConfiguration.class)
			.run((context) -> assertThat(context.getBeanNamesForType(LockOperations.class))
				.containsExactly("ownTemplate"));
	}

	@Test
	void listenersAreNotifiedInTheirOrder() {
		this.contextRunner.withBean(LockRepository.class, DblockAutoConfigurationTests::grantingRepository)
			.withUserConfiguration(ListenersConfiguration.class)
			.run((context) -> {
				context.getBean(LockTemplate.class).tryAcquire("stock");
				assertThat(context.getBean(Heard.class).by()).containsExactly("first", "second");
			});
	}

	@Test
	void listenerCanNeedWhatTakesTheLocks() {
		this.contextRunner.withBean(LockRepository.class, DblockAutoConfigurationTests::grantingRepository)
			.withUserConfiguration(NeedyListenerConfiguration.class)
			.run((context) -> {
				context.getBean(LockTemplate.class).tryAcquire("stock");
				assertThat(context.getBean(Heard.class).by()).containsExactly("needy");
			});
	}

	@Test
	void listenerThatCannotBeCreatedDoesNotStopLocking(CapturedOutput output) {
		this.contextRunner.withBean(LockRepository.class, DblockAutoConfigurationTests::grantingRepository)
			.withBean("broken", LockListener.class, () -> {
				throw new IllegalStateException("broken listener");
			}, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context.getBean(LockTemplate.class).tryAcquire("stock")).isPresent();
				assertThat(output).contains("but its listeners could not be notified").contains("broken listener");
			});
	}

	@Test
	void withoutLocksNoMongodbIsNeededAndThatIsLogged(CapturedOutput output) {
		this.bareRunner.withPropertyValues("dblock.mode=none").run((context) -> {
			assertThat(context).getBean(LockEngine.class)
				.hasSameClassAs(LockEngine.unlocked(EngineSettings.defaults("test")));
			assertThat(context.getBean(LockTemplate.class).<String>execute("stock", () -> "done")).isEqualTo("done");
			assertThat(output).containsOnlyOnce("dblock.mode is none");
		});
	}

	@Test
	void withoutAnyDatabaseTheFailedStartNamesTheRemedy() {
		this.bareRunner.run((context) -> assertThat(analyze(context.getStartupFailure()).getAction())
			.contains("spring.mongodb.uri", "MongoDatabaseFactory", "dblock.mode=none"));
	}

	@Test
	void withSeveralDatabasesTheFailedStartNamesThemAndTheRemedy() {
		this.bareRunner.withUserConfiguration(SeveralDatabasesConfiguration.class).run((context) -> {
			FailureAnalysis analysis = analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains("orders", "stock");
			assertThat(analysis.getAction()).contains("@Primary", "LockRepository");
		});
	}

	@Test
	void amongSeveralDatabasesThePrimaryOneHasTheLocks() {
		this.bareRunner.withUserConfiguration(PrimaryDatabaseConfiguration.class).run((context) -> {
			assertThat(context).hasSingleBean(MongoLockRepository.class);
			assertThat(context.getBeanFactory().getDependenciesForBean("dblockLockRepository")).contains("stock")
				.doesNotContain("orders");
		});
	}

	@Test
	void severalDatabasesDoNotMatterToAnOwnRepository() {
		this.bareRunner.withUserConfiguration(SeveralDatabasesConfiguration.class)
			.withBean(LockRepository.class, () -> mock(LockRepository.class, CALLS_REAL_METHODS))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void noCallerWaitsOnceTheContextCloses() {
		this.contextRunner.withBean(LockRepository.class, DblockAutoConfigurationTests::refusingRepository)
			.run((context) -> {
				LockTemplate template = context.getBean(LockTemplate.class);
				List<Throwable> thrown = new ArrayList<>();
				context.getSourceApplicationContext()
					.addApplicationListener((ContextClosedEvent event) -> thrown
						.add(catchThrowable(() -> template.acquire("stock", WAITING.waitUpTo(Duration.ofHours(1))))));
				context.close();
				assertThat(thrown).singleElement().isInstanceOf(LockShutdownException.class);
			});
	}

	@Test
	void waitersContinueWhenAChildContextCloses() {
		this.contextRunner.withBean(LockRepository.class, DblockAutoConfigurationTests::refusingRepository)
			.run((context) -> {
				GenericApplicationContext child = new GenericApplicationContext(context.getSourceApplicationContext());
				child.refresh();
				child.close();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> context.getBean(LockTemplate.class).acquire("stock", WAITING));
			});
	}

	private static LockRepository refusingRepository() {
		LockRepository repository = mock(LockRepository.class, CALLS_REAL_METHODS);
		LockInfo held = new LockInfo("stock", true, "holder", "elsewhere", "main", "test", 1, null, null, null, null,
				Duration.ofSeconds(30));
		given(repository.acquire(any())).willReturn(new AcquireAnswer.Refused(held));
		return repository;
	}

	private static LockRepository grantingRepository() {
		LockRepository repository = mock(LockRepository.class, CALLS_REAL_METHODS);
		given(repository.acquire(any())).willReturn(new AcquireAnswer.Granted(1, 1, Instant.EPOCH, false, null));
		return repository;
	}

	private static FailureAnalysis analyze(Throwable failure) {
		FailureAnalysis analysis = new DblockFailureAnalyzer().analyze(failure);
		assertThat(analysis).as("analysis of " + failure).isNotNull();
		return analysis;
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnTemplateConfiguration {

		@Bean
		LockTemplate ownTemplate(LockEngine engine) {
			return new DefaultLockTemplate(engine);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SeveralDatabasesConfiguration {

		@Bean
		MongoDatabaseFactory orders() {
			return mock(MongoDatabaseFactory.class);
		}

		@Bean
		MongoDatabaseFactory stock() {
			return mock(MongoDatabaseFactory.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryDatabaseConfiguration {

		@Bean
		MongoDatabaseFactory orders() {
			return mock(MongoDatabaseFactory.class);
		}

		@Bean
		@Primary
		MongoDatabaseFactory stock() {
			return mock(MongoDatabaseFactory.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ListenersConfiguration {

		@Bean
		Heard heard() {
			return new Heard(new ArrayList<>());
		}

		@Bean
		@Order(2)
		LockListener second(Heard heard) {
			return heard.listener("second");
		}

		@Bean
		@Order(1)
		LockListener first(Heard heard) {
			return heard.listener("first");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeedyListenerConfiguration {

		@Bean
		Heard heard() {
			return new Heard(new ArrayList<>());
		}

		@Bean
		LockListener needy(LockOperations operations, LockTemplate template, Heard heard) {
			return heard.listener("needy");
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

		@DistributedLock
		void run() {
		}

	}

	/**
	 * The listeners that were notified.
	 */
	record Heard(List<String> by) {

		LockListener listener(String name) {
			return new LockListener() {

				@Override
				public void onAcquired(LockHandle handle) {
					Heard.this.by.add(name);
				}

			};
		}

	}

}
