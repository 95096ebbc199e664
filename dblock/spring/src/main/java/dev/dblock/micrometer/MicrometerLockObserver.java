package dev.dblock.micrometer;

import dev.dblock.observation.LockObserver;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Creates an observation for each activity of the engine. Requests of a thread to the
 * server are observed within the observation of their activity. The observation of a wait
 * or of a hold has no scope and is not bound to a thread.
 */
public final class MicrometerLockObserver implements LockObserver {

	private final ObservationRegistry registry;

	private final LockObservationConvention convention;

	/**
	 * Create an observer.
	 * @param registry the registry of the observations
	 * @param convention names and tags the observations, instead of the default
	 */
	public MicrometerLockObserver(ObservationRegistry registry, @Nullable LockObservationConvention convention) {
		this.registry = registry;
		this.convention = (convention != null) ? convention : new DefaultLockObservationConvention();
	}

	@Override
	public @Nullable Observed begin(Activity activity, Subject subject) {
		LockObservationContext context = new LockObservationContext(activity, subject);
		Observation observation = Observation
			.createNotStarted(LockObservationDocumentation.of(activity).getName(), () -> context, this.registry)
			.observationConvention(this.convention);
		if (observation.isNoop()) {
			return null;
		}
		observation.start();
		Observation.Scope scope = isRequest(activity) ? observation.openScope() : Observation.Scope.NOOP;
		return (outcome, now, error) -> {
			context.end(outcome, now);
			try (scope) {
				if (error != null) {
					observation.error(error);
				}
			}
			finally {
				observation.stop();
			}
		};
	}

	private static boolean isRequest(Activity activity) {
		return activity != Activity.WAIT && activity != Activity.HOLD;
	}

}
