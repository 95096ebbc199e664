package dev.dblock;

import java.util.stream.Stream;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * The rooms and who may enter which.
 */
@ArchTag("same-on-each-jdk")
@AnalyzeClasses(packages = "dev.dblock", importOptions = DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String API = "dev.dblock";

	private static final String JOB = "dev.dblock.job";

	private static final String SCHEDULE = "dev.dblock.job.schedule";

	private static final String CORE = "dev.dblock.core..";

	private static final String INTERCEPTOR = "dev.dblock.interceptor..";

	private static final String MONGODB = "dev.dblock.mongodb..";

	private static final String LOCAL = "dev.dblock.local..";

	private static final String OBSERVATION = "dev.dblock.observation..";

	private static final String ACTUATE = "dev.dblock.actuate..";

	private static final String INTEGRATION = "dev.dblock.integration..";

	private static final String[] MIDDLE = { INTERCEPTOR, MONGODB, LOCAL, OBSERVATION, ACTUATE, INTEGRATION };

	private static final String AUTOCONFIGURE = "dev.dblock.autoconfigure..";

	@ArchTest
	static final ArchRule whatUsersImportUsesNothingElseOfOurs = noClasses().that()
		.resideInAPackage(API)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(CORE, INTERCEPTOR, MONGODB, LOCAL, OBSERVATION, ACTUATE, INTEGRATION, AUTOCONFIGURE);

	@ArchTest
	static final ArchRule theValuesOfJobsUseNothingElseOfOurs = noClasses().that()
		.resideInAPackage(JOB)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(API, CORE, INTERCEPTOR, MONGODB, LOCAL, OBSERVATION, ACTUATE, INTEGRATION, AUTOCONFIGURE);

	@ArchTest
	static final ArchRule schedulesUseOnlyWhatUsersImport = noClasses().that()
		.resideInAPackage(SCHEDULE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(CORE, INTERCEPTOR, MONGODB, LOCAL, OBSERVATION, ACTUATE, INTEGRATION, AUTOCONFIGURE);

	@ArchTest
	static final ArchRule onlyTheInterceptorAndTheWiringKnowSchedules = noClasses().that()
		.resideOutsideOfPackages(SCHEDULE, INTERCEPTOR, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(SCHEDULE);

	@ArchTest
	static final ArchRule theEngineUsesOnlyWhatUsersImport = noClasses().that()
		.resideInAPackage(CORE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(INTERCEPTOR, MONGODB, LOCAL, OBSERVATION, ACTUATE, INTEGRATION, AUTOCONFIGURE);

	@ArchTest
	static void theRoomsInTheMiddleDoNotKnowEachOther(JavaClasses classes) {
		for (String room : MIDDLE) {
			String[] others = Stream.of(MIDDLE).filter((other) -> !other.equals(room)).toArray(String[]::new);
			noClasses().that()
				.resideInAPackage(room)
				.should()
				.dependOnClassesThat()
				.resideInAnyPackage(others)
				.allowEmptyShould(true)
				.check(classes);
		}
	}

	@ArchTest
	static final ArchRule nothingUsesTheWiring = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(AUTOCONFIGURE);

	@ArchTest
	static final ArchRule onlyTheStoreKnowsTheDriver = noClasses().that()
		.resideOutsideOfPackages(MONGODB, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("com.mongodb..", "org.bson..", "org.springframework.data..");

	@ArchTest
	static final ArchRule theWiringHandsTheDriverOnAndSpeaksToNoServer = noClasses().that()
		.resideInAPackage(AUTOCONFIGURE)
		.should()
		.dependOnClassesThat(resideInAnyPackage("com.mongodb..", "org.bson..")
			.and(not(belongToAnyOf(MongoClientSettings.class, MongoDriverInformation.class))));

	@ArchTest
	static final ArchRule onlyTheInterceptorKnowsAop = noClasses().that()
		.resideOutsideOfPackages(INTERCEPTOR, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.aop..", "org.aopalliance..", "org.aspectj..");

	@ArchTest
	static final ArchRule onlyTheObserversKnowMicrometer = noClasses().that()
		.resideOutsideOfPackages(OBSERVATION, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("io.micrometer..");

	@ArchTest
	static final ArchRule onlyItsOwnRoomKnowsSpringIntegration = noClasses().that()
		.resideOutsideOfPackages(INTEGRATION, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.integration..", "org.springframework.messaging..");

	@ArchTest
	static final ArchRule theRoomForSpringIntegrationUsesOnlyWhatUsersImport = noClasses().that()
		.resideInAPackage(INTEGRATION)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(CORE);

	@ArchTest
	static final ArchRule onlyTheWiringAndTheActuatorRoomKnowBoot = noClasses().that()
		.resideOutsideOfPackages(AUTOCONFIGURE, ACTUATE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot..");

	@ArchTest
	static final ArchRule everyPackageIsNullMarked = classes().that()
		.haveSimpleName("package-info")
		.should()
		.beAnnotatedWith(NullMarked.class);

}
