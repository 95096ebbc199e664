package dev.dblock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenLost;
import dev.dblock.WhenUnavailable;
import dev.dblock.settings.LockSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the settings of single locks ({@code dblock.locks}).
 */
@ExtendWith(OutputCaptureExtension.class)
class LockSettingsConfigurationTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class,
				AopAutoConfiguration.class, DblockAutoConfiguration.class, DblockAopAutoConfiguration.class))
		.withPropertyValues("spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100");

	private ApplicationContextRunner withYaml(String yaml) {
		return this.contextRunner.withInitializer((context) -> addYaml(context, yaml));
	}

	private static void addYaml(ConfigurableApplicationContext context, String yaml) {
		try {
			for (PropertySource<?> source : new YamlPropertySourceLoader().load("application.yml",
					new ByteArrayResource(yaml.getBytes()))) {
				context.getEnvironment().getPropertySources().addFirst(source);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Test
	void everySettingArrives() {
		withYaml("""
				dblock:
				  locks:
				    nightly-invoices:
				      lease: 5m
				      wait: 10s
				      min-hold: 1m
				      max-hold: 2h
				      permits: 3
				      auto-renew: false
				      when-unavailable: throw
				      when-lost: interrupt
				      label: nightly
				    "[order-*]":
				      wait: 3s
				    "[com.acme.Jobs#run]":
				      when-unavailable: skip
				""").run((context) -> {
			LockSettings settings = context.getBean(LockSettings.class);
			assertThat(settings.of("nightly-invoices")).isEqualTo(new LockSettings.Setting(
					new LockOptions(Duration.ofMinutes(5), Duration.ofSeconds(10), Duration.ofMinutes(1),
							Duration.ofHours(2), false, WhenLost.INTERRUPT, null, "nightly")
						.permits(3),
					WhenUnavailable.THROW));
			assertThat(settings.of("order-7").options().waitUpTo()).isEqualTo(Duration.ofSeconds(3));
			assertThat(settings.of("com.acme.Jobs#run").whenUnavailable()).isEqualTo(WhenUnavailable.SKIP);
		});
	}

	private ApplicationContextRunner withVariables(Map<String, Object> variables) {
		return this.contextRunner.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.replace("systemEnvironment", new SystemEnvironmentPropertySource("systemEnvironment", variables)));
	}

	@Test
	void settingsComeFromTheEnvironmentToo(CapturedOutput output) {
		withVariables(Map.of("DBLOCK_LOCKS_REPORT_LEASE", "5m", "DBLOCK_LOCKS_REPORT_MINHOLD", "1m",
				"DBLOCK_LOCKS_REPORT_MAX_HOLD", "2h"))
			.run((context) -> {
				assertThat(context.getBean(LockSettings.class).of("report").options())
					.isEqualTo(LockOptions.lease(Duration.ofMinutes(5))
						.minHold(Duration.ofMinutes(1))
						.maxHold(Duration.ofHours(2)));
				assertThat(output).doesNotContain("The environment variable");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "DBLOCK_LOCKS_NIGHTLY_INVOICES_LEASE", "DBLOCK_LOCKS_NIGHTLY_REPORT_MIN_HOLD" })
	void variableThatSetsNothingIsWarnedOf(String variable, CapturedOutput output) {
		withVariables(Map.of(variable, "5m")).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("The environment variable " + variable + " applies to no lock")
				.contains("SPRING_APPLICATION_JSON='{\"dblock.locks[<name>].lease\":\"5m\"}'");
		});
	}

	@ParameterizedTest
	@CsvSource({ "dblock.locks.nightly.wait=3s, DBLOCK_LOCKS_NIGHTLY_REPORT_LEASE",
			"dblock.locks.nightly-report.wait=3s, DBLOCK_LOCKS_NIGHTLY_REPORT_MINHOLD",
			"dblock.locks[orders.eu].wait=3s, DBLOCK_LOCKS_ORDERS_EU_LEASE",
			"dblock.jobs.nightly-report.start-within=3s, DBLOCK_LOCKS_NIGHTLY_REPORT_LEASE" })
	void variableThatSetsNothingOfALockInAFileIsWarnedOf(String property, String variable, CapturedOutput output) {
		withVariables(Map.of(variable, "5m")).withPropertyValues(property)
			.run((context) -> assertThat(output)
				.containsOnlyOnce("The environment variable " + variable + " applies to no lock"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock.locks.nightly-report.wait=3s", "dblock.locks[nightly-report].wait=3s" })
	void variableReachesAnyLockThatAFileNames(String property, CapturedOutput output) {
		withVariables(Map.of("DBLOCK_LOCKS_NIGHTLY_REPORT_LEASE", "5m")).withPropertyValues(property).run((context) -> {
			assertThat(context.getBean(LockSettings.class).of("nightly-report").options())
				.isEqualTo(LockOptions.lease(Duration.ofMinutes(5)).waitUpTo(Duration.ofSeconds(3)));
			assertThat(output).doesNotContain("The environment variable");
		});
	}

	@Test
	void variableThatNamesNoLockStopsTheStart() {
		withVariables(Map.of("DBLOCK_LOCKS_LEASE", "5m")).run((context) -> assertThat(context.getStartupFailure())
			.hasStackTraceContaining("Failed to bind properties under 'dblock.locks.lease'"));
	}

	@Test
	void ownSettingsComeInThePlaceOfTheProperties() {
		LockOptions options = LockOptions.lease(Duration.ofSeconds(3)).minHold(Duration.ofSeconds(4));
		LockSettings own = new LockSettings(Map.of("job", new LockSettings.Setting(options, null)));
		this.contextRunner.withBean(LockSettings.class, () -> own)
			.withBean("job", Job.class)
			.run((context) -> assertThat(context.getStartupFailure()).hasMessageContaining("bean 'job'")
				.hasMessageContaining("4s"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock.locks.job.lease=-5s", "dblock.locks.job.lease=0s", "dblock.locks.job.lease=10ms",
			"dblock.locks.job.lease=900d", "dblock.locks.job.wait=-1s", "dblock.locks.job.min-hold=-1s",
			"dblock.locks.job.max-hold=-1s", "dblock.locks[order-*].lease=-5s" })
	void impossibleValueIsRefusedByTheNameOfItsProperty(String property) {
		this.contextRunner.withPropertyValues(property)
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getName())
				.isEqualTo(property.substring(0, property.indexOf('='))));
	}

	@Test
	void settingsThatContradictEachOtherAreRefused() {
		this.contextRunner
			.withPropertyValues("dblock.locks.job.lease=5m", "dblock.locks.job.min-hold=2m",
					"dblock.locks.job.max-hold=1m")
			.run((context) -> {
				InvalidConfigurationPropertyValueException refusal = refusal(context.getStartupFailure());
				assertThat(refusal.getName()).isEqualTo("dblock.locks.job.max-hold");
				assertThat(refusal.getReason()).contains("2m", "1m", "Change one of them");
			});
		this.contextRunner.withPropertyValues("dblock.locks.job.lease=10s", "dblock.locks.job.min-hold=20s")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getName())
				.isEqualTo("dblock.locks.job.min-hold"));
	}

	@ParameterizedTest
	@CsvSource({ "job, j*", "xy*, x*" })
	void settingsThatContradictThoseOfAShorterBeginningAreRefused(String key, String shorter) {
		this.contextRunner
			.withPropertyValues("dblock.locks[%s].lease=10s".formatted(key),
					"dblock.locks[%s].min-hold=20s".formatted(shorter), "dblock.locks[z*].min-hold=1s")
			.run((context) -> {
				InvalidConfigurationPropertyValueException refusal = refusal(context.getStartupFailure());
				assertThat(refusal.getName()).isEqualTo("dblock.locks");
				assertThat(refusal.getValue()).isEqualTo(key);
				assertThat(refusal.getReason())
					.contains("20s", "10s", "The settings for '%s', '%s'".formatted(key, shorter))
					.doesNotContain("z*");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "0", "-1", "1001" })
	void numberOfPermitsThatIsNotPossibleIsRefused(String permits) {
		this.contextRunner.withPropertyValues("dblock.locks.export.permits=" + permits)
			.run((context) -> assertThat(refusal(context.getStartupFailure()))
				.satisfies((refusal) -> assertThat(refusal.getName()).isEqualTo("dblock.locks.export.permits"))
				.satisfies((refusal) -> assertThat(refusal.getReason()).isEqualTo(
						"A lock has between 1 and 1000 permits, but %s were requested. One permit excludes all others"
							.formatted(permits))));
	}

	@ParameterizedTest
	@ValueSource(strings = { "*-eu", "a*b", "**" })
	void wildcardBeforeTheEndIsRefused(String key) {
		this.contextRunner.withPropertyValues("dblock.locks[%s].lease=10s".formatted(key))
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getReason())
				.contains("'" + key + "' has a '*' before its end", "'order-*'"));
	}

	@Test
	void settingThatContradictsTheAnnotationIsRefusedWithBeanAndMethod() {
		this.contextRunner.withBean("job", Job.class)
			.withPropertyValues("dblock.locks.job.lease=3s", "dblock.locks[order-*].min-hold=1m")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasMessageContaining("bean 'job', " + Job.class.getName() + "#run(): The minimum hold (4s)")
				.hasMessageContaining("'job' (dblock.locks or the LockSettings bean)")
				.hasMessageContaining("#settle(int): The minimum hold (1m)")
				.hasMessageContaining("'order-*' (dblock.locks or the LockSettings bean)"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "order-7", "order-vip-*" })
	void settingOfANarrowerNameThatContradictsTheAnnotationIsRefused(String key) {
		this.contextRunner.withBean("job", Job.class)
			.withPropertyValues("dblock.locks[%s].min-hold=1m".formatted(key))
			.run((context) -> assertThat(context.getStartupFailure())
				.hasMessageContaining("#settle(int): The minimum hold (1m)")
				.hasMessageContaining("'" + key + "' (dblock.locks or the LockSettings bean)"));
	}

	@Test
	void skippingWhatReturnsAPrimitiveIsRefused() {
		this.contextRunner.withBean("job", Job.class)
			.withPropertyValues("dblock.locks.count.when-unavailable=skip")
			.run((context) -> assertThat(context.getStartupFailure()).hasMessageContaining("#count()")
				.hasMessageContaining("primitive int")
				.hasMessageContaining("dblock.locks"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "order-*", "shop:stock", "com.acme.Jobs#run", "com.acme.Jobs", "a b" })
	void nameThatSpringWouldCripple(String name) {
		withYaml("dblock:\n  locks:\n    %s:\n      lease: 5m\n".formatted(name)).run((context) -> {
			InvalidConfigurationPropertyValueException refusal = refusal(context.getStartupFailure());
			assertThat(refusal.getName()).isEqualTo("dblock.locks." + name + ".lease");
			assertThat(refusal.getReason()).contains("dblock.locks[" + name + "].lease").contains("\"[" + name + "]\"");
		});
	}

	@Test
	void settingOfNoLockIsRefused() {
		this.contextRunner.withPropertyValues("dblock.locks.lease=5m")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getReason())
				.contains("dblock.locks.<name>.<setting>"));
	}

	@Test
	void unknownSettingIsRefused() {
		this.contextRunner.withPropertyValues("dblock.locks.job.leese=5m")
			.run((context) -> assertThat(refusal(context.getStartupFailure()))
				.satisfies((refusal) -> assertThat(refusal.getName()).isEqualTo("dblock.locks.job.leese"))
				.satisfies((refusal) -> assertThat(refusal.getReason()).contains("Did you mean lease?")));
		this.contextRunner.withPropertyValues("dblock.locks.job.unheard-of=5m")
			.run((context) -> assertThat(refusal(context.getStartupFailure()).getReason())
				.contains("Known are auto-renew, label, lease, max-hold, min-hold, permits, wait,"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "dblock.locks.job.lease", "dblock.locks[order-*].min-hold", "dblock.locks.job.minHold",
			"dblock.locks.job.auto-renew", "dblock.locks.job.when-lost" })
	void emptyValueIsRefusedAsEmpty(String property) {
		this.contextRunner.withPropertyValues(property + "=")
			.run((context) -> assertThat(refusal(context.getStartupFailure()))
				.satisfies((refusal) -> assertThat(refusal.getName()).isEqualToIgnoringCase(property))
				.satisfies((refusal) -> assertThat(refusal.getReason()).startsWith("The value is empty")));
	}

	@Test
	void settingThatAppliesToNoMethodIsLogged(CapturedOutput output) {
		this.contextRunner.withBean("job", Job.class)
			.withPropertyValues("dblock.locks.jobs.lease=5m", "dblock.locks[orders-*].lease=5m",
					"dblock.locks[order-vip-*].lease=5m", "dblock.locks.job.wait=5s", "dblock.locks[*].wait=1s")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output)
					.containsOnlyOnce("dblock.locks or the LockSettings bean has settings that apply to none")
					.contains("@DistributedLock: jobs, orders-*. Names that only a LockTemplate uses");
			});
	}

	@Test
	void settingsThatApplyAreNotWarnedOf(CapturedOutput output) {
		this.contextRunner.withBean("job", Job.class)
			.withPropertyValues("dblock.locks.order-1.lease=5m", "dblock.locks[order-*].lease=5m")
			.run((context) -> assertThat(output).doesNotContain("has settings that apply to none"));
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void operatorSetsWhatAnnotationAndTemplateDo(MongoServer server) {
		withYaml("""
				dblock:
				  name-prefix: shop-
				  locks:
				    job:
				      lease: 5m
				    "[order-*]":
				      lease: 6m
				      when-unavailable: skip
				    "[order-7]":
				      lease: 7m
				    count:
				      when-unavailable: throw
				    maybe:
				      when-unavailable: default
				    one-of-two:
				      lease: 8m
				      when-unavailable: skip
				    two-of-two:
				      lease: 9m
				      when-unavailable: throw
				""").withPropertyValues("spring.mongodb.uri=" + server.uri(server.freshDatabase()))
			.withBean("job", Job.class)
			.withBean(Packing.class)
			.run((context) -> {
				LockTemplate template = context.getBean(LockTemplate.class);
				Job job = context.getBean(Job.class);
				assertThat(job.run()).isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5));
				assertThat(job.settle(1)).isBetween(Duration.ofMinutes(5), Duration.ofMinutes(6));
				assertThat(job.settle(7)).isBetween(Duration.ofMinutes(6), Duration.ofMinutes(7));
				try (LockHandle order = template.acquire("order-1", LockOptions.lease(Duration.ofSeconds(9)))) {
					assertThat(order.remaining()).isGreaterThan(Duration.ofMinutes(5));
					assertThat(job.settle(1)).as("skipped").isNull();
					assertThatExceptionOfType(LockUnavailableException.class).as("returns a primitive")
						.isThrownBy(() -> context.getBean(Packing.class).pack(1));
					assertThat(order.isHeld()).isTrue();
				}
				assertThat(job.both()).satisfiesExactly(
						(ofOne) -> assertThat(ofOne).isBetween(Duration.ofMinutes(7), Duration.ofMinutes(8)),
						(ofTwo) -> assertThat(ofTwo).isBetween(Duration.ofMinutes(8), Duration.ofMinutes(9)));
				try (LockHandle one = template.acquire("one-of-two")) {
					assertThat(job.both()).as("skipped for the lock that is set to be").isNull();
					assertThat(one.isHeld()).isTrue();
				}
				try (LockHandle other = template.acquire("two-of-two")) {
					assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(job::both)
						.withMessageContaining("none of which is held for this request now: 'shop-one-of-two'");
					assertThat(other.isHeld()).isTrue();
				}
				try (LockHandle maybe = template.acquire("maybe")) {
					assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(job::maybe);
					assertThat(maybe.isHeld()).isTrue();
				}
			});
	}

	private static InvalidConfigurationPropertyValueException refusal(Throwable failure) {
		Throwable cause = failure;
		while (cause != null && !(cause instanceof InvalidConfigurationPropertyValueException)) {
			cause = cause.getCause();
		}
		assertThat(cause).as("refusal among the causes of " + failure).isNotNull();
		return (InvalidConfigurationPropertyValueException) cause;
	}

	static class Packing {

		@DistributedLock("#{'order-' + #number}")
		public int pack(int number) {
			return number;
		}

	}

	static class Job {

		@DistributedLock(name = "job", leaseSeconds = 20, minHoldSeconds = 4)
		public Duration run() {
			return LockContext.current().orElseThrow().remaining();
		}

		@DistributedLock(name = "order-#{#number}", leaseSeconds = 20)
		public Duration settle(int number) {
			return LockContext.current().orElseThrow().remaining();
		}

		@DistributedLock("order-#{#number}-#{#number}")
		public void unused(int number) {
		}

		@DistributedLock("one-of-two")
		@DistributedLock("two-of-two")
		public List<Duration> both() {
			return Stream.of("shop-one-of-two", "shop-two-of-two")
				.map((name) -> LockContext.current(name).orElseThrow().remaining())
				.toList();
		}

		@DistributedLock("count")
		public int count() {
			return 1;
		}

		@DistributedLock(name = "maybe", whenUnavailable = WhenUnavailable.SKIP)
		public String maybe() {
			return "done";
		}

	}

}
