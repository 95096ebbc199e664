package dev.dblock;

import java.util.Set;
import java.util.stream.Stream;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * The packages, and which may use which.
 */
@ArchTag("same-on-each-jdk")
@AnalyzeClasses(packages = "dev.dblock", importOptions = ArchitectureTests.NoTests.class)
class ArchitectureTests {

	private static final String API = "dev.dblock";

	private static final String JOB = "dev.dblock.job";

	private static final String JOBS = "dev.dblock.job..";

	private static final String TRIGGERS = "dev.dblock.job.trigger";

	private static final String JOB_EVENTS = "dev.dblock.job.event";

	private static final String JOB_METERS = "dev.dblock.job.micrometer";

	private static final String JOB_RECORDS = "dev.dblock.job.mongodb";

	private static final String CLAIM = "dev.dblock.claim";

	private static final String SCHEDULE = "dev.dblock.job.schedule";

	private static final String JOB_METHODS = "dev.dblock.job.method";

	private static final String SUPPORT = "dev.dblock.support..";

	private static final String ENGINE = "dev.dblock.engine..";

	private static final String EXECUTION = "dev.dblock.execution..";

	private static final String REACTIVE = "dev.dblock.reactive..";

	private static final String EVENT = "dev.dblock.event..";

	private static final String STORE = "dev.dblock.store..";

	private static final String SETTINGS = "dev.dblock.settings..";

	private static final String OBSERVATION = "dev.dblock.observation..";

	private static final String CORE = "dev.dblock.core..";

	private static final String LEASE = "dev.dblock.core.lease";

	private static final String QUEUE = "dev.dblock.core.queue";

	private static final String TRANSACTION = "dev.dblock.transaction..";

	private static final String ANNOTATION = "dev.dblock.annotation..";

	private static final String MONGODB = "dev.dblock.mongodb..";

	private static final String REQUESTS = "dev.dblock.mongodb.request";

	private static final String LOCAL = "dev.dblock.local..";

	private static final String LEADER = "dev.dblock.leader..";

	private static final String MICROMETER = "dev.dblock.micrometer..";

	private static final String INTEGRATION = "dev.dblock.integration..";

	private static final String ACTUATE = "dev.dblock.actuate..";

	private static final String AUTOCONFIGURE = "dev.dblock.autoconfigure..";

	private static final Set<String> CHANCE = Set.of("System.nanoTime", "System.currentTimeMillis", "Thread.sleep",
			"LockSupport.park", "LockSupport.parkNanos", "UUID.randomUUID", "ThreadLocalRandom.current",
			"SecureRandom.<init>", "Random.<init>");

	/** They use the engine, or are used by it, and do not know each other. */
	private static final String[] SIDE_ROOMS = { ANNOTATION, MONGODB, LOCAL, MICROMETER, ACTUATE, INTEGRATION };

	@ArchTest
	static final ArchRule packagesAreFreeOfCircles = slices().matching("dev.dblock.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule apiUsesClaims = onlyUses(API, CLAIM, SUPPORT);

	@ArchTest
	static final ArchRule apiIsPublic = classes().that()
		.resideInAPackage(API)
		.and()
		.areTopLevelClasses()
		.and()
		.doNotHaveSimpleName("package-info")
		.should()
		.bePublic();

	@ArchTest
	static final ArchRule supportUsesNothingElse = onlyUses(SUPPORT);

	@ArchTest
	static final ArchRule engineInterfaceUsesTheApi = onlyUses(ENGINE, API, CLAIM, SETTINGS, STORE);

	@ArchTest
	static final ArchRule executionUsesTheInterfaceOfTheEngine = onlyUses(EXECUTION, API, CLAIM, ENGINE, STORE,
			SUPPORT);

	@ArchTest
	static final ArchRule sequencesUseTheInterfaceOfTheEngine = onlyUses(REACTIVE, API, CLAIM, ENGINE, EXECUTION, STORE,
			SUPPORT, TRANSACTION);

	@ArchTest
	static final ArchRule claimsUseNothingElse = onlyUses(CLAIM);

	@ArchTest
	static final ArchRule valuesOfJobsUseTheApi = onlyUses(JOB, API, CLAIM, SUPPORT);

	@ArchTest
	static final ArchRule eventsOfJobsUseTheirValues = onlyUses(JOB_EVENTS, API, CLAIM, EVENT, JOB);

	@ArchTest
	static final ArchRule metersOfJobsUseTheirEvents = onlyUses(JOB_METERS, API, EVENT, JOB, JOB_EVENTS);

	@ArchTest
	static final ArchRule recordsOfJobsUseTheStatements = onlyUses(JOB_RECORDS, API, CLAIM, JOB, REQUESTS);

	@ArchTest
	static final ArchRule eventsUseTheApi = onlyUses(EVENT, API, CLAIM, SUPPORT);

	@ArchTest
	static final ArchRule leadersUseTheApi = onlyUses(LEADER, API, ENGINE, SUPPORT);

	@ArchTest
	static final ArchRule storesUseTheApi = onlyUses(STORE, API, CLAIM, SUPPORT);

	@ArchTest
	static final ArchRule settingsUseTheApiAndTheStore = onlyUses(SETTINGS, API, CLAIM, STORE, SUPPORT);

	@ArchTest
	static final ArchRule observationUsesTheStore = onlyUses(OBSERVATION, API, STORE, SUPPORT);

	@ArchTest
	static final ArchRule engineUsesWhatIsBelowIt = onlyUses(CORE, API, CLAIM, ENGINE, TRANSACTION, SUPPORT, EVENT,
			STORE, SETTINGS, OBSERVATION);

	@ArchTest
	static final ArchRule transactionsUseTheInterfaceOfTheEngine = onlyUses(TRANSACTION, API, ENGINE, SUPPORT, STORE);

	@ArchTest
	static final ArchRule schedulesUseTheInterfaceOfTheEngine = onlyUses(SCHEDULE, API, CLAIM, JOB, TRIGGERS, ENGINE,
			STORE, SUPPORT);

	@ArchTest
	static final ArchRule triggersUseTheValuesOfJobs = onlyUses(TRIGGERS, JOB, SUPPORT);

	@ArchTest
	static final ArchRule onlySchedulesUseTriggers = noClasses().that()
		.resideOutsideOfPackages(TRIGGERS, SCHEDULE)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(TRIGGERS);

	@ArchTest
	static final ArchRule queuesUseLeases = onlyUses(QUEUE, API, CLAIM, LEASE, SETTINGS, STORE, TRANSACTION);

	/**
	 * Everything else knows claims, and a scheduler observes its calls of a locked method
	 * as a {@code CallObserver}.
	 */
	@ArchTest
	static final ArchRule onlyJobsAndTheBootModuleKnowJobs = noClasses().that()
		.resideOutsideOfPackages(JOBS, AUTOCONFIGURE, ACTUATE)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(JOBS);

	@ArchTest
	static final ArchRule methodsOfJobsUseAnnotationsAndSchedules = onlyUses(JOB_METHODS, API, CLAIM, JOB, SCHEDULE,
			ANNOTATION, ENGINE, SETTINGS);

	@ArchTest
	static final ArchRule onlyMethodsOfJobsAndTheAutoConfigurationUseSchedules = noClasses().that()
		.resideOutsideOfPackages(SCHEDULE, JOB_METHODS, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(SCHEDULE);

	@ArchTest
	static final ArchRule springIntegrationUsesTheApi = onlyUses(INTEGRATION, API, ENGINE, EXECUTION);

	@ArchTest
	static void sideRoomsDoNotKnowEachOther(JavaClasses classes) {
		for (String room : SIDE_ROOMS) {
			String[] others = Stream.of(SIDE_ROOMS).filter((other) -> !other.equals(room)).toArray(String[]::new);
			noClasses().that()
				.resideInAPackage(room)
				.should()
				.dependOnClassesThat()
				.resideInAnyPackage(others)
				.check(classes);
		}
	}

	@ArchTest
	static final ArchRule onlyActuatorUsesTheAutoConfiguration = noClasses().that()
		.resideOutsideOfPackages(AUTOCONFIGURE, ACTUATE)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(AUTOCONFIGURE);

	@ArchTest
	static final ArchRule onlyTheRepositoryUsesTheDriver = noClasses().that()
		.resideOutsideOfPackages(MONGODB, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("com.mongodb..", "org.springframework.data..");

	@ArchTest
	static final ArchRule onlyStatementsUseDocuments = noClasses().that()
		.resideOutsideOfPackages(MONGODB, JOB_RECORDS)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.bson..");

	@ArchTest
	static final ArchRule autoConfigurationMakesNoRequests = noClasses().that()
		.resideInAPackage(AUTOCONFIGURE)
		.should()
		.dependOnClassesThat(resideInAnyPackage("com.mongodb..", "org.bson..")
			.and(not(belongToAnyOf(MongoClientSettings.class, MongoDriverInformation.class))));

	@ArchTest
	static final ArchRule onlyAnnotationsUseAop = noClasses().that()
		.resideOutsideOfPackages(ANNOTATION, JOB_METHODS, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.aop..", "org.aopalliance..", "org.aspectj..");

	@ArchTest
	static final ArchRule onlyMetersAndTracesUseMicrometer = noClasses().that()
		.resideOutsideOfPackages(MICROMETER, JOB_METERS, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("io.micrometer..");

	@ArchTest
	static final ArchRule onlyItsOwnPackageUsesSpringIntegration = noClasses().that()
		.resideOutsideOfPackages(INTEGRATION, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.integration..", "org.springframework.messaging..");

	@ArchTest
	static final ArchRule onlyTheBootModuleUsesBoot = noClasses().that()
		.resideOutsideOfPackages(AUTOCONFIGURE, ACTUATE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot..");

	@ArchTest
	static final ArchRule mostOfTheLibraryWorksWithoutReactor = noClasses().that()
		.resideInAnyPackage(API, CLAIM, CORE, ENGINE, EVENT, EXECUTION, INTEGRATION, JOBS, LEADER, LOCAL, MICROMETER,
				OBSERVATION, SETTINGS, STORE, SUPPORT, TRANSACTION)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("reactor..", "org.reactivestreams..");

	@ArchTest
	static final ArchRule everyPackageIsNullMarked = classes().that()
		.haveSimpleName("package-info")
		.should()
		.beAnnotatedWith(NullMarked.class);

	/**
	 * A simulation decides about clocks, pauses and random numbers.
	 */
	@ArchTest
	static final ArchRule engineReadsClocksAndPausesInOnePlace = noClasses().that()
		.resideInAPackage(CORE)
		.and()
		.haveNameNotMatching(".*LockClock.*")
		.should()
		.accessTargetWhere(describe("reads a clock, pauses or draws a random number",
				(access) -> CHANCE.contains(access.getTarget().getOwner().getSimpleName() + "." + access.getName())));

	private static ArchRule onlyUses(String room, String... others) {
		return classes().that()
			.resideInAPackage(room)
			.should()
			.onlyDependOnClassesThat(
					not(resideInAPackage("dev.dblock..")).or(resideInAPackage(room)).or(resideInAnyPackage(others)));
	}

	/**
	 * The tests of the other module come in a JAR.
	 */
	static final class NoTests implements ImportOption {

		@Override
		public boolean includes(Location location) {
			return !location.contains("/test-classes/") && !location.contains("-tests.jar");
		}

	}

}
