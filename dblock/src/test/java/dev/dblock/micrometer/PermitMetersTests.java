package dev.dblock.micrometer;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.observation.LockObserver;
import dev.dblock.observation.LockObserver.Activity;
import dev.dblock.observation.LockObserver.Observed;
import dev.dblock.observation.LockObserver.Outcome;
import dev.dblock.observation.LockObserver.Subject;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class PermitMetersTests {

	private final MeterRegistry registry = new SimpleMeterRegistry();

	private final PermitMeters meters = new PermitMeters(() -> this.registry);

	private static Subject export(int permits) {
		return new Subject("app-export", "export", 4711, 1, permits);
	}

	private double value(String meter, String lock) {
		return this.registry.get(meter).tag("lock", lock).gauge().value();
	}

	@Test
	void countsThePermitsThatAreHeld() {
		Observed first = this.meters.begin(Activity.HOLD, export(3));
		Observed second = this.meters.begin(Activity.HOLD, export(3));
		assertThat(value("dblock.permits.held", "export")).isEqualTo(2);
		assertThat(value("dblock.permits", "export")).isEqualTo(3);
		first.end(Outcome.RELEASED, export(3), null);
		assertThat(value("dblock.permits.held", "export")).isEqualTo(1);
		second.end(Outcome.LOST, export(3), null);
		assertThat(value("dblock.permits.held", "export")).isZero();
	}

	@Test
	void showsTheNumberThatWasRequestedLast() {
		this.meters.begin(Activity.HOLD, export(3));
		this.meters.begin(Activity.HOLD, export(5));
		assertThat(value("dblock.permits", "export")).isEqualTo(5);
	}

	@Test
	void countsLocksWithoutALabelTogether() {
		this.meters.begin(Activity.HOLD, new Subject("a", null, 1, 1, 2));
		this.meters.begin(Activity.HOLD, new Subject("b", null, 1, 1, 2));
		assertThat(value("dblock.permits.held", "none")).isEqualTo(2);
	}

	@Test
	void plainLocksAndOtherActivitiesHaveNoMeters() {
		assertThat(this.meters.begin(Activity.HOLD, export(0))).isNull();
		assertThat(this.meters.begin(Activity.ACQUIRE, export(3))).isNull();
		assertThat(this.registry.getMeters()).isEmpty();
	}

	@Test
	void countsBesideAnotherObserver() {
		List<String> ends = new ArrayList<>();
		LockObserver failing = (activity, subject) -> (outcome, now, error) -> {
			ends.add(outcome.name());
			throw new IllegalStateException("of the other");
		};
		Observed both = failing.and(this.meters).begin(Activity.HOLD, export(3));
		assertThat(value("dblock.permits.held", "export")).isEqualTo(1);
		assertThatIllegalStateException().isThrownBy(() -> both.end(Outcome.RELEASED, export(3), null));
		assertThat(value("dblock.permits.held", "export")).isZero();
		failing.and(this.meters).begin(Activity.WAIT, export(3));
		assertThatIllegalStateException().isThrownBy(
				() -> this.meters.and(failing).begin(Activity.WAIT, export(3)).end(Outcome.FAILED, export(3), null));
		assertThat(ends).containsExactly("RELEASED", "FAILED");
	}

}
