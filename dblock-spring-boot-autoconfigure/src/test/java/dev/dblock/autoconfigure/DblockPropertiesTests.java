package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.Map;

import dev.dblock.settings.EngineSettings;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.LockSettings;
import dev.dblock.store.LockRepository;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link DblockProperties} and {@link DblockSettings}.
 */
class DblockPropertiesTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class))
		.withBean(LockRepository.class, () -> mock(LockRepository.class, CALLS_REAL_METHODS));

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			dblock.lease                 | 0s                         | 0s          | must be positive
			dblock.lease                 | -1s                        | -1s         | must be positive
			dblock.lease                 | 366d                       | 366d        |
			dblock.lease                 | 9223372036854775807s       |             |
			dblock.lease                 | 1ms                        | 1ms         | The lease of 1ms is too short
			dblock.wait                  | -1s                        | -1s         | zero tries once
			dblock.max-hold              | -1s                        | -1s         | zero means no limit
			dblock.clock-allowance       | -1ms                       | -1ms        | at least 0s
			dblock.clock-allowance       | 9223372036854775807s       |             | at most
			dblock.poll-interval         | 0s                         | 0s          | at least 1ms
			dblock.poll-interval         | 9223372036854775807s       |             | at most
			dblock.handoff.max-time      | -1s                        | -1s         | at least 0s
			dblock.mongodb.retention     | 23h                        | 23h         | at least 1d
			dblock.mongodb.retention     | 36501d                     | 36501d      | at most
			dblock.mongodb.timeout       | 0s                         | 0s          | at least 1ms
			dblock.mongodb.timeout       | -1s                        | -1s         | at least
			dblock.mongodb.collection    | ''                         | ''          | must have a name
			dblock.mongodb.collection    | ' '                        |             | must have a name
			dblock.mongodb.collection    | lo$cks                     | lo$cks      | '$'
			dblock.mongodb.collection    | system.locks               |             | reserved for the server
			""")
	void propertyThatCannotBeIsRefusedByName(String property, String value, String shown, String reason) {
		this.contextRunner.withPropertyValues(property + "=" + value).run((context) -> {
			InvalidConfigurationPropertyValueException refused = refusal(context.getStartupFailure());
			assertThat(refused.getName()).isEqualTo(property);
			assertThat(refused.getReason()).isNotBlank().contains((reason != null) ? reason : "");
			if (shown != null) {
				assertThat(refused.getValue()).hasToString(shown);
			}
		});
	}

	@Test
	void collectionWithNulIsRefused() {
		this.contextRunner.withPropertyValues("dblock.mongodb.collection=a\0b")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getReason()).contains("NUL"));
	}

	@Test
	void prefixThatLeavesNoRoomForANameIsRefused() {
		this.contextRunner.withPropertyValues("dblock.name-prefix=" + "p".repeat(1000)).run((context) -> {
			InvalidConfigurationPropertyValueException refused = refusal(context.getStartupFailure());
			assertThat(refused.getName()).isEqualTo("dblock.name-prefix");
			assertThat(refused.getReason()).contains("1000");
		});
	}

	@Test
	void prefixWithControlCharacterIsRefused() {
		this.contextRunner.withPropertyValues("dblock.name-prefix=a\u0007b")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getName())
				.isEqualTo("dblock.name-prefix"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "mongodb", "none" })
	void propertiesAreCheckedWithAndWithoutLocks(String mode) {
		this.contextRunner.withPropertyValues("dblock.mode=" + mode, "dblock.mongodb.retention=1h")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getName())
				.isEqualTo("dblock.mongodb.retention"));
	}

	@Test
	void unknownStatementsAreRefusedWithThoseThatAreKnown() {
		this.contextRunner.withPropertyValues("dblock.mongodb.statements=sql")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("sql")
				.hasMessageContaining("StatementDialect"));
	}

	@ParameterizedTest
	@CsvSource({ "1s, PT0.05S, PT1S", "50ms, PT0.05S, PT0.05S", "20ms, PT0.02S, PT0.02S", "10, PT0.05S, PT10S" })
	void firstPauseOfAWaiterIsNotLongerThanTheLongest(String interval, Duration first, Duration longest) {
		EngineSettings settings = new DblockSettings(bound(Map.of("dblock.poll-interval", interval)))
			.forEngine(LockSettings.NONE, (name) -> "");
		assertThat(settings.poll()).isEqualTo(new EngineSettings.Poll(first, longest));
	}

	@Test
	void everyPropertyArrives() {
		this.contextRunner
			.withPropertyValues("dblock.lease=20s", "dblock.wait=5s", "dblock.max-hold=1h", "dblock.name-prefix=shop-",
					"dblock.acquirer=pod-7", "dblock.clock-allowance=1s", "dblock.advisor-order=17",
					"dblock.poll-interval=2s", "dblock.handoff.max-time=4s", "dblock.mongodb.collection=locks",
					"dblock.mongodb.retention=2d", "dblock.mongodb.timeout=3s", "dblock.mongodb.statements=classic",
					"dblock.mongodb.create-indexes=false")
			.run((context) -> {
				DblockProperties properties = context.getBean(DblockProperties.class);
				DblockSettings settings = new DblockSettings(properties);
				assertThat(settings.forMongodb()).isEqualTo(new MongoLockSettings("locks", Duration.ofSeconds(1),
						Duration.ofDays(2), Duration.ofSeconds(3), StatementDialect.CLASSIC, false));
				assertThat(settings.forEngine(LockSettings.NONE, (name) -> "")).asString()
					.startsWith("EngineSettings[namePrefix=shop-, acquirer=pod-7, "
							+ "defaults=LockOptions[lease=PT20S, waitUpTo=PT5S, minHold=PT0S, maxHold=PT1H, "
							+ "autoRenew=true, whenLost=NOTIFY, why=null, label=null, claim=null, permits=null], timeout=PT3S, "
							+ "poll=Poll[minInterval=PT0.05S, maxInterval=PT2S, always=false], handOff=HandOff[maxCount=10000, maxTime=PT4S]");
				assertThat(properties.advisorOrder()).isEqualTo(17);
			});
	}

	@Test
	void clocksMayBeTakenToAgree() {
		assertThat(new DblockSettings(bound(Map.of("dblock.clock-allowance", "0"))).forMongodb().clockAllowance())
			.isZero();
	}

	@Test
	void defaultOrderLeavesRoomInsideTheLock() {
		assertThat(bound(Map.of()).advisorOrder()).isEqualTo(Ordered.LOWEST_PRECEDENCE - 100);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " " })
	void emptyAcquirerCountsAsUnset(String acquirer) {
		DblockProperties properties = bound(Map.of("dblock.acquirer", acquirer));
		assertThat(new DblockSettings(properties).forEngine(LockSettings.NONE, (name) -> "").acquirer())
			.contains(":" + ProcessHandle.current().pid() + ":");
	}

	@Test
	void instancesWithoutANameAreDistinguished() {
		String[] parts = DblockSettings.instanceName().split(":");
		assertThat(parts).hasSize(3).allSatisfy((part) -> assertThat(part).isNotBlank());
		assertThat(DblockSettings.instanceName()).isNotEqualTo(String.join(":", parts));
	}

	private static DblockProperties bound(Map<String, Object> properties) {
		return new Binder(new MapConfigurationPropertySource(properties)).bindOrCreate("dblock",
				DblockProperties.class);
	}

	private static InvalidConfigurationPropertyValueException refusal(Throwable failure) {
		assertThat(failure).as("start-up failure").isNotNull();
		Throwable cause = failure;
		while (cause != null && !(cause instanceof InvalidConfigurationPropertyValueException)) {
			cause = cause.getCause();
		}
		assertThat(cause).as("refusal among the causes of " + failure)
			.isInstanceOf(InvalidConfigurationPropertyValueException.class);
		return (InvalidConfigurationPropertyValueException) cause;
	}

}
