package dev.dblock.micrometer;

import java.util.Locale;

import dev.dblock.micrometer.LockObservationDocumentation.HighCardinality;
import dev.dblock.micrometer.LockObservationDocumentation.LowCardinality;
import dev.dblock.observation.LockObserver;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import org.jspecify.annotations.Nullable;

/**
 * Default {@link LockObservationConvention}. A subclass can add key values to those that
 * these methods return. The convention does not set a name: the observations keep their
 * own, such as {@code dblock.acquire}.
 */
public class DefaultLockObservationConvention implements LockObservationConvention {

	private static final KeyValue NO_LABEL = LowCardinality.LOCK.withValue(KeyValue.NONE_VALUE);

	private static final KeyValue NO_OUTCOME = LowCardinality.OUTCOME.withValue(KeyValue.NONE_VALUE);

	@Override
	public String getContextualName(LockObservationContext context) {
		String activity = context.activity().name().toLowerCase(Locale.ROOT);
		String label = context.subject().label();
		return activity + ((label != null) ? " " + label : " lock");
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		KeyValue outcome = (context.outcome() != null)
				? LowCardinality.OUTCOME.withValue(context.outcome().name().toLowerCase(Locale.ROOT)) : NO_OUTCOME;
		return isOfOneCaller(context.activity()) ? KeyValues.of(lock(context.subject().label()), outcome)
				: KeyValues.of(outcome);
	}

	/**
	 * Whether the activity belongs to one caller. The requests to renew and release serve
	 * the holder at the time they are sent.
	 */
	private static boolean isOfOneCaller(LockObserver.Activity activity) {
		return activity != LockObserver.Activity.RENEW && activity != LockObserver.Activity.RELEASE;
	}

	private static KeyValue lock(@Nullable String label) {
		return (label != null) ? LowCardinality.LOCK.withValue(label) : NO_LABEL;
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
		LockObserver.Subject subject = context.subject();
		if (subject.name() == null) {
			return KeyValues.of(HighCardinality.LOCKS.withValue(Integer.toString(subject.locks())));
		}
		KeyValues name = KeyValues.of(HighCardinality.NAME.withValue(subject.name()));
		return (subject.token() != 0) ? name.and(HighCardinality.TOKEN.withValue(Long.toString(subject.token())))
				: name;
	}

}
