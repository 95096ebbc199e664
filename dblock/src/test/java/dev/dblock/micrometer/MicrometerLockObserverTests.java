package dev.dblock.micrometer;

import java.util.List;
import java.util.stream.Stream;

import dev.dblock.observation.LockObserver.Activity;
import dev.dblock.observation.LockObserver.Observed;
import dev.dblock.observation.LockObserver.Outcome;
import dev.dblock.observation.LockObserver.Subject;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MicrometerLockObserver}.
 */
class MicrometerLockObserverTests {

	private static final Subject STOCK = new Subject("app-stock-7", "stock-#{#id}", 4711, 1);

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final MicrometerLockObserver observer = new MicrometerLockObserver(this.registry, null);

	@Test
	void acquisitionIsTaggedByItsLabelAndOutcome() {
		Observed acquire = this.observer.begin(Activity.ACQUIRE, new Subject("app-stock-7", "stock-#{#id}", 0, 1));
		acquire.end(Outcome.ACQUIRED, STOCK, null);
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo("dblock.acquire")
			.that()
			.hasBeenStarted()
			.hasBeenStopped()
			.hasContextualNameEqualTo("acquire stock-#{#id}")
			.hasOnlyKeys("lock", "outcome", "dblock.name", "dblock.token")
			.hasLowCardinalityKeyValue("lock", "stock-#{#id}")
			.hasLowCardinalityKeyValue("outcome", "acquired")
			.hasHighCardinalityKeyValue("dblock.name", "app-stock-7")
			.hasHighCardinalityKeyValue("dblock.token", "4711");
	}

	@Test
	void theNameOfALockIsNeverATagOfAMeter() {
		MeterRegistry meters = new SimpleMeterRegistry();
		this.registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
		for (Activity activity : Activity.values()) {
			this.observer.begin(activity, STOCK).end(Outcome.FAILED, STOCK, new IllegalStateException("scripted"));
		}
		assertThat(meters.getMeters()).isNotEmpty()
			.allSatisfy((meter) -> assertThat(meter.getId().getTags()).isNotEmpty()
				.noneMatch((tag) -> tag.getValue().contains("app-stock-7") || tag.getValue().contains("4711")));
	}

	@Test
	void anOngoingObservationHasNoOutcome() {
		MeterRegistry meters = new SimpleMeterRegistry();
		this.registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
		Observed hold = this.observer.begin(Activity.HOLD, STOCK);
		assertThat(meters.get("dblock.hold.active").tag("lock", "stock-#{#id}").longTaskTimer().activeTasks())
			.isEqualTo(1);
		hold.end(Outcome.RELEASED, STOCK, null);
		assertThat(meters.get("dblock.hold.active").longTaskTimer().activeTasks()).isZero();
		assertThat(meters.get("dblock.hold").tag("outcome", "released").timer().count()).isEqualTo(1);
	}

	@Test
	void errorIsKept() {
		IllegalStateException error = new IllegalStateException("scripted");
		this.observer.begin(Activity.RELEASE, STOCK).end(Outcome.FAILED, STOCK, error);
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo("dblock.release")
			.that()
			.hasError(error);
	}

	@Test
	void aLockWithoutALabelIsCalledNone() {
		Subject unlabelled = new Subject("stock", null, 0, 1);
		this.observer.begin(Activity.ACQUIRE, unlabelled).end(Outcome.UNAVAILABLE, unlabelled, null);
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo("dblock.acquire")
			.that()
			.hasContextualNameEqualTo("acquire lock")
			.hasLowCardinalityKeyValue("lock", "none")
			.doesNotHaveHighCardinalityKeyValueWithKey("dblock.token");
	}

	@Test
	void aRenewalIsAboutSeveralLocks() {
		Subject many = new Subject(null, null, 0, 12);
		this.observer.begin(Activity.RENEW, many).end(Outcome.RENEWED, many, null);
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo("dblock.renew")
			.that()
			.hasOnlyKeys("outcome", "dblock.locks")
			.hasHighCardinalityKeyValue("dblock.locks", "12");
	}

	@ParameterizedTest
	@EnumSource(value = Activity.class, names = { "ACQUIRE", "RENEW", "RELEASE" })
	void aRequestIsTheCurrentObservationOfItsThread(Activity activity) {
		Observed observed = this.observer.begin(activity, STOCK);
		Observation current = this.registry.getCurrentObservation();
		assertThat(current).isNotNull();
		assertThat(current.getContext().getName()).isEqualTo(LockObservationDocumentation.of(activity).getName());
		observed.end(Outcome.FAILED, STOCK, null);
		assertThat(this.registry.getCurrentObservation()).isNull();
	}

	@ParameterizedTest
	@EnumSource(value = Activity.class, names = { "WAIT", "HOLD" })
	void anObservationThatMayEndInAnotherThreadDoesNotStayInThisOne(Activity activity) {
		Observation.createNotStarted("caller", this.registry).observe(() -> {
			Observed observed = this.observer.begin(activity, STOCK);
			assertThat(this.registry.getCurrentObservation().getContext().getName()).isEqualTo("caller");
			observed.end(Outcome.RELEASED, STOCK, null);
		});
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo(LockObservationDocumentation.of(activity).getName())
			.that()
			.hasParentObservation();
	}

	@Test
	void applicationCanTagByItself() {
		LockObservationConvention own = new DefaultLockObservationConvention() {

			@Override
			public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
				return super.getLowCardinalityKeyValues(context).and("team", "billing");
			}

		};
		new MicrometerLockObserver(this.registry, own).begin(Activity.HOLD, STOCK).end(Outcome.RELEASED, STOCK, null);
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo("dblock.hold")
			.that()
			.hasLowCardinalityKeyValue("team", "billing")
			.hasLowCardinalityKeyValue("outcome", "released");
	}

	@Test
	void applicationCanNameByItself() {
		LockObservationConvention own = new DefaultLockObservationConvention() {

			@Override
			public String getName() {
				return "locks";
			}

		};
		new MicrometerLockObserver(this.registry, own).begin(Activity.HOLD, STOCK).end(Outcome.RELEASED, STOCK, null);
		TestObservationRegistryAssert.assertThat(this.registry).hasObservationWithNameEqualTo("locks");
	}

	@Test
	void withoutARegistryNothingIsObserved() {
		assertThat(new MicrometerLockObserver(ObservationRegistry.NOOP, null).begin(Activity.HOLD, STOCK)).isNull();
	}

	@Test
	void disabledObservationsAreNotMade() {
		this.registry.observationConfig().observationPredicate((name, context) -> !name.equals("dblock.hold"));
		assertThat(this.observer.begin(Activity.HOLD, STOCK)).isNull();
		assertThat(this.observer.begin(Activity.WAIT, STOCK)).isNotNull();
	}

	@ParameterizedTest
	@EnumSource(LockObservationDocumentation.class)
	void documentationIsWhatTheConventionDoes(LockObservationDocumentation documented) {
		Activity activity = Activity.valueOf(documented.name());
		Subject subject = (activity != Activity.RENEW) ? STOCK : new Subject(null, null, 0, 2);
		LockObservationContext context = new LockObservationContext(activity, subject);
		if (activity == Activity.RELEASE) {
			context.end(Outcome.RELEASED, new Subject("app-stock-7", null, 0, 1));
		}
		LockObservationConvention convention = new DefaultLockObservationConvention();
		assertThat(LockObservationDocumentation.of(activity)).isSameAs(documented);
		assertThat(keys(convention.getLowCardinalityKeyValues(context)))
			.containsExactlyInAnyOrderElementsOf(keys(documented.getLowCardinalityKeyNames()));
		assertThat(keys(convention.getHighCardinalityKeyValues(context)))
			.containsExactlyInAnyOrderElementsOf(keys(documented.getHighCardinalityKeyNames()));
	}

	private static List<String> keys(KeyValues values) {
		return values.stream().map(KeyValue::getKey).toList();
	}

	private static List<String> keys(KeyName[] names) {
		return Stream.of(names).map(KeyName::asString).toList();
	}

}
