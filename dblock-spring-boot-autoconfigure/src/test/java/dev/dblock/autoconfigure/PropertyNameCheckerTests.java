package dev.dblock.autoconfigure;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import dev.dblock.store.LockRepository;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Answers.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link PropertyNameChecker}; those of single locks are in
 * {@link LockSettingsConfigurationTests}.
 */
@ExtendWith(OutputCaptureExtension.class)
class PropertyNameCheckerTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class))
		.withBean(LockRepository.class, () -> mock(LockRepository.class, CALLS_REAL_METHODS));

	@ParameterizedTest
	@CsvSource({ "dblock.leese, dblock.lease", "dblock.maxhld, dblock.max-hold", "dblock.lockz, dblock.locks",
			"dblock.collection, dblock.mongodb.collection", "dblock.mongodb.lease, dblock.lease",
			"dblock.mongo.timeout, dblock.mongodb.timeout", "dblock.pollIntervall, dblock.poll-interval",
			"dblock.jobs.once-per-planned-time, dblock.once-per-planned-time", "DBLOCK.leese, dblock.lease",
			"dblock.acquirers[0], dblock.acquirer" })
	void unknownPropertyStopsTheStartWithTheNearestOne(String property, String nearest) {
		this.contextRunner.withPropertyValues(property + "=5s").run((context) -> {
			InvalidConfigurationPropertyValueException refusal = refusal(context.getStartupFailure());
			assertThat(refusal.getName()).isEqualTo(property);
			assertThat(refusal.getReason()).contains(nearest);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock.locks[a", "dblock.locks[a]", "dblock.locks.[a", "dblock.locks[a.b", "dblock.locks",
			"dblock.locks.a", "dblock.locks[a].b.c" })
	void brokenKeyStopsTheStart(String property) {
		this.contextRunner.withPropertyValues(property + "=5s").run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void allAreListedIfNoneIsSimilar() {
		this.contextRunner.withPropertyValues("dblock.unheard-of=1")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getReason())
				.contains("Known are dblock.acquirer, dblock.advisor-order, "));
	}

	@Test
	void allUnknownPropertiesAreNamed() {
		this.contextRunner.withPropertyValues("dblock.leese=5s", "dblock.wate=5s")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getReason())
				.matches(".*Did you mean dblock\\.(lease|wait)\\? \\(dblock\\.strict=false only logs this;"
						+ " also refused: dblock\\.(leese|wate)\\)"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock.maxHold=1s", "dblock.max_hold=1s", "dblock.MAX-HOLD=1s", "dblock.maxhold=1s",
			"dblock.name-prefix=", "dblock.acquirer=", "dblock.once-per-planned-time=true",
			"dblock.oncePerPlannedTime=true", "dblock.jobs.report.startWithin=5s",
			"dblock.jobs[nightly report].when-missed=run", "dblock.locks[a.b].minHold=1s", "dblockers.leese=1s",
			"my.dblock.leese=1s" })
	void everyFormOfAKnownPropertyIsAccepted(String property, CapturedOutput output) {
		this.contextRunner.withPropertyValues(property).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("have no effect");
		});
	}

	@Test
	void jobWhoseIdSpringWouldChangeIsRefused() {
		this.contextRunner.withPropertyValues("dblock.jobs.com.acme.Jobs.when-missed=run")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getReason())
				.contains("dblock.jobs[com.acme.Jobs].when-missed"));
	}

	@Test
	void unknownPropertiesAreOneWarningIfNotStrict(CapturedOutput output) {
		this.contextRunner
			.withPropertyValues("dblock.strict=false", "dblock.leese=5s", "dblock.wate=5s", "dblock.jobs.a.leese=5s")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).containsOnlyOnce("Some properties have no effect")
					.contains("dblock.leese: There is no such property. Did you mean dblock.lease?", "dblock.wate: ",
							"dblock.jobs.a.leese: There is no setting of that name");
			});
	}

	@Test
	void variablesAreLeftAlone(CapturedOutput output) {
		withSource(new SystemEnvironmentPropertySource("systemEnvironment",
				Map.of("DBLOCK_SERVICE_HOST", "10.0.0.1", "DBLOCK_LEESE", "5s", "DBLOCK_STRICT", "true")))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain("DBLOCK_");
			});
	}

	@Test
	void systemPropertiesAreOnlyWarnedOf(CapturedOutput output) {
		withSource(new MapPropertySource("systemProperties", Map.of("dblock.version", "1.0"))).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("dblock.version: There is no such property");
		});
	}

	private ApplicationContextRunner withSource(PropertySource<?> source) {
		return this.contextRunner.withInitializer(
				(context) -> context.getEnvironment().getPropertySources().replace(source.getName(), source));
	}

	@Test
	void propertiesOfOtherModulesAreKnownByTheirMetadata(@TempDir Path module) throws IOException {
		Path metadata = module.resolve(PropertyNameChecker.METADATA);
		Files.createDirectories(metadata.getParent());
		Files.writeString(metadata, """
				{"properties": [{"name": "dblock.other.enabled", "type": "java.lang.Boolean"},
					{"name": "dblock.other.texts", "type": "java.util.List<java.lang.String>"},
					{"name": "dblock.other.numbers", "type": "int[]"},
					{"name": "dblock.other.byHand", "type": "java.lang.String[]"}]}""");
		try (URLClassLoader loader = new URLClassLoader(new URL[] { module.toUri().toURL() },
				getClass().getClassLoader())) {
			ApplicationContextRunner runner = this.contextRunner.withClassLoader(loader);
			runner
				.withPropertyValues("dblock.other.enabled=false", "dblock.other.texts[0]=a", "dblock.other.texts[1]=b",
						"dblock.other.numbers[0]=1", "dblock.other.by-hand[0]=c")
				.run((context) -> assertThat(context).hasNotFailed());
			runner.withPropertyValues("dblock.other.enable=false")
				.run((context) -> assertThat(refusal(context.getStartupFailure()).getReason())
					.contains("Did you mean dblock.other.enabled?"));
		}
		this.contextRunner.withPropertyValues("dblock.other.enabled=false")
			.run((context) -> assertThat(context).hasFailed());
	}

	private static InvalidConfigurationPropertyValueException refusal(Throwable failure) {
		assertThat(failure).isInstanceOf(InvalidConfigurationPropertyValueException.class);
		return (InvalidConfigurationPropertyValueException) failure;
	}

}
