package dev.dblock.shedlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;

import com.mongodb.client.MongoCollection;
import dev.dblock.LockTemplate;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.autoconfigure.DblockAopAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.NestedExceptionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link DblockShedLockAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class DblockShedLockAutoConfigurationTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class, DblockAopAutoConfiguration.class,
				DblockJobsAutoConfiguration.class, DblockShedLockAutoConfiguration.class))
		.withPropertyValues("dblock.mode=local");

	private static Optional<SimpleLock> lock(LockProvider provider) {
		return provider.lock(DblockLockProviderTests.configuration("stock", Duration.ofSeconds(30), Duration.ZERO));
	}

	@Test
	void providerIsCreated() {
		this.application.run((context) -> {
			SimpleLock lock = lock(context.getBean(LockProvider.class)).orElseThrow();
			assertThat(context.getBean(LockTemplate.class).inspect("stock").orElseThrow().held()).isTrue();
			lock.unlock();
		});
	}

	@Test
	void applicationWithoutShedLocksAnnotationsNeedsOnlyItsCore() {
		this.application.withClassLoader(new FilteredClassLoader("net.javacrumbs.shedlock.spring"))
			.run((context) -> assertThat(context).hasSingleBean(DblockLockProvider.class)
				.doesNotHaveBean("dblockSchedulerLockMethods"));
	}

	@Test
	void applicationsOwnProviderIsUsedAndReported(CapturedOutput output) {
		this.application.withUserConfiguration(OldProvider.class).run((context) -> {
			assertThat(context).doesNotHaveBean(DblockLockProvider.class);
			assertThat(output).contains("WARN")
				.contains("ShedLock uses the application's bean 'lockProvider' (MongoLockProvider), and not dblock")
				.contains("dblock.shedlock.beside=true");
		});
	}

	@Test
	void providerThatKeepsLocksAliveIsReportedToo(CapturedOutput output) {
		this.application.withUserConfiguration(AliveProvider.class)
			.run((context) -> assertThat(output).contains(
					"ShedLock uses the application's bean 'lockProvider' (KeepAliveLockProvider), and not dblock"));
	}

	@Test
	void providerOfTheApplicationThatIsNoStoreIsNotReported(CapturedOutput output) {
		this.application.withBean("lockProvider", LockProvider.class, () -> (configuration) -> Optional.empty())
			.run((context) -> assertThat(output).doesNotContain("ShedLock uses"));
	}

	@Test
	void bothProvidersAreUsed(CapturedOutput output) {
		List<String> locked = new ArrayList<>();
		this.application
			.withBean("lockProvider", LockProvider.class, () -> (configuration) -> recorded(locked, configuration),
					(definition) -> definition.setPrimary(true))
			.withPropertyValues("dblock.shedlock.beside=true")
			.run((context) -> {
				LockProvider provider = context.getBean(LockProvider.class);
				assertThat(provider).isInstanceOf(DblockLockProvider.class);
				assertThat(lock(provider)).isPresent();
				assertThat(locked).containsExactly("stock");
				assertThat(lock(provider)).isEmpty();
				assertThat(context).hasBean("dblockSchedulerLockMethods");
				assertThat(output).contains("acquired from the application's bean 'lockProvider' too");
			});
	}

	private static Optional<SimpleLock> recorded(List<String> locked, LockConfiguration configuration) {
		locked.add(configuration.getName());
		return Optional.of(() -> {
		});
	}

	@Test
	void primaryOneOfSeveralProvidersIsUsed() {
		this.application.withUserConfiguration(TwoProviders.class)
			.withPropertyValues("dblock.shedlock.beside=true")
			.run((context) -> {
				assertThat(lock(context.getBean(LockProvider.class))).isPresent();
				assertThat(lock(context.getBean("first", LockProvider.class))).isEmpty();
			});
	}

	private void startFails(String message, ApplicationContextRunner runner) {
		runner.run((context) -> {
			Throwable failure = NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure());
			assertThat(failure).isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class,
					(ex) -> assertThat(ex.getName() + ": " + ex.getReason()).startsWith("dblock.shedlock.")
						.contains(message));
		});
	}

	@Test
	void providerOfTheApplicationIsRequired() {
		startFails("beside: The application has no LockProvider of its own",
				this.application.withPropertyValues("dblock.shedlock.beside=true"));
	}

	@Test
	void oneOfSeveralProvidersMustBePrimary() {
		startFails("several LockProviders (one, two)",
				this.application.withPropertyValues("dblock.shedlock.beside=true")
					.withBean("one", LockProvider.class, () -> (configuration) -> Optional.empty())
					.withBean("two", LockProvider.class, () -> (configuration) -> Optional.empty()));
	}

	@Test
	void dblocksOwnProviderIsNoOtherProvider() {
		startFails("beside: The other provider has the locks of dblock too",
				this.application.withUserConfiguration(SchedulerLockTests.ChangedBean.class)
					.withPropertyValues("dblock.shedlock.beside=true"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "off", "no", "" })
	void besideIsTrueOrFalse(String value) {
		startFails("beside: Write false instead", this.application.withUserConfiguration(OldProvider.class)
			.withPropertyValues("dblock.shedlock.beside=" + value));
	}

	@ParameterizedTest
	@ValueSource(strings = { "beside", "keep-alive" })
	void valueThatIsNoBooleanIsReported(String property) {
		this.application.withUserConfiguration(OldProvider.class)
			.withPropertyValues("dblock.shedlock." + property + "=perhaps")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("perhaps"));
	}

	@Test
	void onlyOneProviderThatKeepsLocksAliveIsRejected() {
		startFails("keep-alive: The MongoLockProvider does not keep its locks alive",
				this.application.withUserConfiguration(OldProvider.class)
					.withPropertyValues("dblock.shedlock.beside=true", "dblock.shedlock.keep-alive=true"));
		startFails("keep-alive: The KeepAliveLockProvider keeps its locks alive",
				this.application.withUserConfiguration(AliveProvider.class)
					.withPropertyValues("dblock.shedlock.beside=true"));
	}

	@Test
	void providersThatKeepTheirLocksAliveAreUsedTogether() {
		this.application.withUserConfiguration(AliveProvider.class)
			.withPropertyValues("dblock.shedlock.beside=true", "dblock.shedlock.keep-alive=true")
			.run((context) -> assertThat(context.getBean(LockProvider.class)).isInstanceOf(DblockLockProvider.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class OldProvider {

		@Bean
		LockProvider lockProvider() {
			return mongo();
		}

		@SuppressWarnings("unchecked")
		static MongoLockProvider mongo() {
			return new MongoLockProvider((MongoCollection<Document>) mock(MongoCollection.class));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AliveProvider {

		@Bean
		KeepAliveLockProvider lockProvider() {
			return new KeepAliveLockProvider(OldProvider.mongo(), mock(ScheduledExecutorService.class));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoProviders {

		@Bean
		LockProvider first() {
			return (configuration) -> Optional.empty();
		}

		@Bean
		@Primary
		LockProvider second() {
			return (configuration) -> Optional.of(() -> {
			});
		}

	}

}
