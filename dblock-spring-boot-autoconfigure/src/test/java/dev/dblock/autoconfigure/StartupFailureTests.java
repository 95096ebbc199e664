package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.contradictory.ContradictoryJob;
import dev.dblock.engine.LockEngine;
import dev.dblock.mongodb.MongoLockSettingsCustomizer;
import dev.dblock.settings.EngineSettingsCustomizer;
import dev.dblock.store.LockRepository;
import dev.dblock.testing.SameOnEachJdk;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;

/**
 * Every mistake that start-up can detect fails it with a text that names problem, place
 * and remedy, without a stack trace.
 */
@SameOnEachJdk
@ExtendWith(OutputCaptureExtension.class)
class StartupFailureTests {

	private static final String WITHOUT_BOOTS_MONGODB = "spring.autoconfigure.exclude="
			+ "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration,"
			+ "org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration";

	// With room for the locks, and none for their fences
	private static final String LONG = "l".repeat(250);

	static Stream<Arguments> values() {
		return Stream.of(arguments("dblock.strict=maybe", "dblock.strict", "maybe", "Invalid boolean value"),
				arguments("dblock.lease=soon", "dblock.lease", "soon", "java.time.Duration"),
				arguments("dblock.lease=-5s", "dblock.lease", "-5s", "must be positive"),
				arguments("dblock.lease=30ms", "dblock.lease",
						"The lease of 30ms is too short to be renewed in time. The shortest is 500ms",
						"Invalid value '30ms'"),
				arguments("dblock.wait=-5", "dblock.wait", "-5s", "zero tries once"),
				arguments("dblock.leese=5s", "dblock.leese", "There is no such property. Did you mean dblock.lease?",
						"(dblock.strict=false only logs this)"),
				arguments("dblock.locks.report.min-hold=366d", "dblock.locks.report.min-hold", "longer than the lease",
						"at least as long"),
				arguments("dblock.clock-allowance=-1ms", "dblock.clock-allowance", "at least 0s", "-1ms"),
				arguments("dblock.advisor-order=first", "dblock.advisor-order", "first", "java.lang.Integer"),
				arguments("dblock.name-prefix=a\nb", "dblock.name-prefix", "control characters", "U+000A"),
				arguments("dblock.name-prefix=${TENANT}:", "dblock.name-prefix", "${TENANT}:",
						"placeholder that cannot be resolved"),
				arguments("dblock.acquirer=${POD}", "dblock.acquirer", "${POD}", "${key:default}"),
				arguments("dblock.handoff.max-time=-1s", "dblock.handoff.max-time", "-1s", "at least 0s"),
				arguments("dblock.poll-interval=0s", "dblock.poll-interval", "0s", "at least 1ms"),
				arguments("dblock.mongodb.statements=sql", "dblock.mongodb.statements", "sql", "PIPELINE"),
				arguments("dblock.mongodb.collection=a$b", "dblock.mongodb.collection", "a$b", "'$'"),
				arguments("dblock.mongodb.collection=.locks", "dblock.mongodb.collection", ".locks",
						"begin with a dot"),
				arguments("dblock.mongodb.collection=" + LONG, "dblock.mongodb.collection", "the database 'test'",
						"may have at most 250 bytes"),
				arguments("dblock.mongodb.retention=1h", "dblock.mongodb.retention", "1h", "at least 1d"),
				arguments("dblock.mongodb.timeout=0s", "dblock.mongodb.timeout", "0s", "at least"),
				arguments("dblock.mongodb.database-factory=orders", "dblock.mongodb.database-factory=orders",
						"there are: mongoDatabaseFactory", "Use the name of one of them"),
				arguments("dblock.locks.job.lease=-5s", "dblock.locks.job.lease", "-5s", "must be positive"),
				arguments("dblock.locks.job.lease=soon", "dblock.locks.job.lease", "soon", "java.time.Duration"),
				arguments("dblock.locks.job.when-lost=cry", "dblock.locks.job.when-lost", "cry", "INTERRUPT"),
				arguments("dblock.locks.job.leese=5s", "dblock.locks.job.leese", "no setting of that name",
						"Did you mean lease?"),
				arguments("dblock.jobs.job.start-witin=5s", "dblock.jobs.job.start-witin", "no setting of that name",
						"Did you mean start-within?"),
				arguments("dblock.jobs.unlocked=warn", "dblock.jobs.unlocked", "warn", "IGNORE"),
				arguments("dblock.jobs.unlock=fail", "dblock.jobs.unlock", "write dblock.jobs.<name>.<setting>",
						"Did you mean dblock.jobs.unlocked?"),
				arguments("dblock.locks.nightly.lease=", "dblock.locks.nightly.lease", "The value is empty",
						"remove the setting"),
				arguments("dblock.locks[x*].min-hold=30s,dblock.locks[xy*].lease=20s", "dblock.locks",
						"Invalid value 'xy*'", "The settings for 'xy*', 'x*'"),
				arguments("dblock.locks[x*z].lease=5s", "dblock.locks", "Invalid value 'x*z'",
						"has a '*' before its end"),
				arguments("dblock.locks.order-*.lease=5s", "dblock.locks.order-*.lease", "5s",
						"dblock.locks[order-*].lease"),
				arguments("dblock.locks[order-*].min-hold=20s,dblock.locks[order-*].max-hold=10s",
						"dblock.locks[order-*].max-hold", "10s", "20s"));
	}

	@ParameterizedTest
	@MethodSource("values")
	void impossibleValue(String properties, String property, String one, String other, CapturedOutput output) {
		start(Empty.class, properties.split(","));
		assertAnalyzed(output, property, one, other, "Action:");
	}

	@Test
	void noDatabase(CapturedOutput output) {
		start(Empty.class, WITHOUT_BOOTS_MONGODB);
		assertAnalyzed(output, "no MongoDatabaseFactory bean", "Set spring.mongodb.uri");
	}

	@Test
	void severalDatabases(CapturedOutput output) {
		start(SeveralFactories.class, WITHOUT_BOOTS_MONGODB);
		assertAnalyzed(output, "several MongoDatabaseFactory beans", "orders, stock", "dblock.mongodb.database-factory",
				"@Primary");
	}

	@Test
	void unknownDatabaseOfAMethod(CapturedOutput output) {
		start(UnknownDatabase.class);
		assertAnalyzed(output,
				"bean 'job', " + Job.class.getName() + "#run(): The database factory 'oders' is not the name of a"
						+ " MongoDatabaseFactory bean; there are: mongoDatabaseFactory",
				"Fix each @DistributedLock");
	}

	@Test
	void unknownDatabaseOfATemplate(CapturedOutput output) {
		start(UnknownDatabaseOfTemplate.class);
		assertAnalyzed(output, "The database factory 'oders' is not the name of a MongoDatabaseFactory bean",
				"Use the name of one of them");
	}

	@Test
	void contradictoryAnnotationThatIsScanned(CapturedOutput output) {
		start(ScanningContradictoryJob.class);
		assertAnalyzed(output, "A locked method cannot work as declared", ContradictoryJob.class.getName() + ".run()",
				"[dev.dblock.DistributedLock]", "[nightly]", "[weekly]", "set only one");
	}

	@Test
	void skippingAPrimitive(CapturedOutput output) {
		start(SkippedPrimitive.class);
		assertAnalyzed(output, "#count()", "primitive int", "whenUnavailable = THROW");
	}

	@Test
	void scheduledMethodWithoutALock(CapturedOutput output) {
		start(UnlockedPurge.class, "dblock.jobs.unlocked=fail");
		assertAnalyzed(output, "- " + UnlockedPurge.class.getName() + "#purge: is @Scheduled without a lock",
				"add @DistributedLock, or @RunsOnEveryInstance if that is intended", "Fix each job");
	}

	@Test
	void lockedMethodWithoutTheAutoConfiguration(CapturedOutput output) {
		start(SkippedPrimitive.class, "spring.autoconfigure.exclude=" + DblockAutoConfiguration.class.getName());
		assertAnalyzed(output, Counter.class.getName() + ": has locked methods, but there is no LockEngine bean",
				"DblockAutoConfiguration, which provides one, is excluded or not imported; include it, with"
						+ " dblock.mode=none if the methods should run unlocked");
	}

	@Test
	void lockedLifecycleMethod(CapturedOutput output) {
		start(LockedStart.class);
		assertAnalyzed(output,
				"bean 'warmUp', " + WarmUp.class.getName()
						+ "#run(): is called by Spring without the proxy that locks it;"
						+ " move the work into a locked method of another bean, or into an ApplicationRunner",
				"Fix each @DistributedLock");
		assertThat(output).doesNotContain("WarmUp ran");
	}

	@Test
	void customizersThatLeaveImpossibleSettings(CapturedOutput output) {
		start(ImpossibleEngine.class);
		assertAnalyzed(output, "The EngineSettingsCustomizer bean 'other' returned invalid settings: ",
				"longer than the lease", "Fix that bean");
	}

	static Stream<Arguments> failures() {
		return Stream.of(
				arguments("engine-throws", "The EngineSettingsCustomizer bean 'podName' failed: ",
						"java.lang.IllegalStateException: no pod"),
				arguments("engine-null", "The EngineSettingsCustomizer bean 'podName' returned null",
						"instead of settings"),
				arguments("engine-unnamed", "The EngineSettingsCustomizer bean 'podName' failed: ",
						"The acquirer, which identifies this instance in its locks, must not be empty"),
				arguments("store-throws", "The MongoLockSettingsCustomizer bean 'collections' failed: ",
						"java.lang.IllegalStateException: no collection"),
				arguments("store-null", "The MongoLockSettingsCustomizer bean 'collections' returned null",
						"instead of settings"),
				arguments("store-blank", "The MongoLockSettingsCustomizer bean 'collections' failed: ",
						"The lock collection must have a name"),
				arguments("store-dollar", "The MongoLockSettingsCustomizer bean 'collections' failed: ",
						"neither '$' nor the NUL character, but is 'a$b'"),
				arguments("store-long",
						"The MongoLockSettingsCustomizer bean 'collections' returned invalid settings: ",
						"may have at most 250 bytes"));
	}

	@ParameterizedTest
	@MethodSource("failures")
	void customizersThatFail(String failure, String bean, String reason, CapturedOutput output) {
		start(FailingCustomizers.class, "failure=" + failure);
		assertAnalyzed(output, bean, reason, "Fix that bean");
		assertThat(output).doesNotContain("$$Lambda");
	}

	@Test
	void severalRepositories(CapturedOutput output) {
		start(SeveralRepositories.class);
		assertAnalyzed(output, "required a single bean, but 2 were found", "- one", "- other", "@Primary");
	}

	@Test
	void severalEngines(CapturedOutput output) {
		start(SeveralEngines.class);
		assertAnalyzed(output, "required a single bean, but 2 were found", "- one", "- other", "@Primary");
	}

	private static void assertAnalyzed(CapturedOutput output, String... texts) {
		assertThat(output).contains("APPLICATION FAILED TO START").contains(texts).doesNotContain("\tat ");
	}

	private static void start(Class<?> application, String... properties) {
		SpringApplicationBuilder builder = new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.properties("spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100")
			.properties(properties);
		try (ConfigurableApplicationContext context = builder.run()) {
			throw new AssertionError(context + " started with " + String.join(", ", properties));
		}
		catch (RuntimeException ex) {
			// Reported in the log, where a user sees it
			assertThat(ex).isNotNull();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Empty {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class SeveralFactories {

		@Bean
		MongoDatabaseFactory orders() {
			return new SimpleMongoClientDatabaseFactory("mongodb://127.0.0.1:1/orders");
		}

		@Bean
		MongoDatabaseFactory stock() {
			return new SimpleMongoClientDatabaseFactory("mongodb://127.0.0.1:1/stock");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class UnknownDatabase {

		@Bean
		Job job() {
			return new Job();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class UnknownDatabaseOfTemplate {

		@Bean
		Object orders(LockTemplates templates) {
			return templates.on("oders");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ComponentScan(basePackageClasses = ContradictoryJob.class)
	static class ScanningContradictoryJob {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class SkippedPrimitive {

		@Bean
		Counter counter() {
			return new Counter();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class UnlockedPurge {

		@Scheduled(cron = "0 0 0 29 2 *")
		void purge() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class LockedStart {

		@Bean
		WarmUp warmUp() {
			return new WarmUp();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class ImpossibleEngine {

		@Bean
		@Order(1)
		EngineSettingsCustomizer one() {
			return (settings) -> settings.withAcquirer("pod-7");
		}

		@Bean
		@Order(2)
		EngineSettingsCustomizer other() {
			return (settings) -> settings.withDefaults(LockOptions.defaults().minHold(Duration.ofHours(1)));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class FailingCustomizers {

		@Bean
		EngineSettingsCustomizer podName(@Value("${failure}") String failure) {
			return (settings) -> switch (failure) {
				case "engine-throws" -> throw new IllegalStateException("no pod");
				case "engine-null" -> null;
				case "engine-unnamed" -> settings.withAcquirer("");
				default -> settings;
			};
		}

		@Bean
		MongoLockSettingsCustomizer collections(@Value("${failure}") String failure) {
			return (databaseFactory, settings) -> switch (failure) {
				case "store-throws" -> throw new IllegalStateException("no collection");
				case "store-null" -> null;
				case "store-blank" -> settings.withCollection(" ");
				case "store-dollar" -> settings.withCollection("a$b");
				case "store-long" -> settings.withCollection(LONG);
				default -> settings;
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class SeveralRepositories {

		@Bean
		LockRepository one() {
			return mock(LockRepository.class, CALLS_REAL_METHODS);
		}

		@Bean
		LockRepository other() {
			return mock(LockRepository.class, CALLS_REAL_METHODS);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class SeveralEngines {

		@Bean
		LockEngine one() {
			return mock(LockEngine.class);
		}

		@Bean
		LockEngine other() {
			return mock(LockEngine.class);
		}

		@Bean
		Object user(LockTemplate template) {
			return template;
		}

	}

	static class Job {

		@DistributedLock(name = "job", databaseFactory = "oders")
		public void run() {
		}

	}

	static class WarmUp {

		@PostConstruct
		@DistributedLock
		void run() {
			LoggerFactory.getLogger(WarmUp.class).info("WarmUp ran");
		}

	}

	static class Counter {

		@DistributedLock(name = "count", whenUnavailable = WhenUnavailable.SKIP)
		public int count() {
			return 1;
		}

	}

}
