package dev.dblock.micrometer;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import org.jspecify.annotations.Nullable;

/**
 * Convention for one of the observations, which has its documented name unless the
 * delegate sets another.
 *
 * @param name the documented name
 * @param convention the delegate
 */
record NamedConvention(String name,
		LockObservationConvention convention) implements ObservationConvention<LockObservationContext> {

	@Override
	public boolean supportsContext(Observation.Context context) {
		return this.convention.supportsContext(context);
	}

	@Override
	public String getName() {
		String own = this.convention.getName();
		return (own != null) ? own : this.name;
	}

	@Override
	public @Nullable String getContextualName(LockObservationContext context) {
		return this.convention.getContextualName(context);
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		return this.convention.getLowCardinalityKeyValues(context);
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
		return this.convention.getHighCardinalityKeyValues(context);
	}

}
