package dev.dblock.micrometer;

import java.util.Locale;

import dev.dblock.observation.LockObserver;
import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observations of locks, each of which results in a timer and a span.
 */
enum LockObservationDocumentation implements ObservationDocumentation {

	/**
	 * A thread requests a lock, including the wait.
	 */
	ACQUIRE(new KeyName[] { LowCardinality.LOCK, LowCardinality.OUTCOME },
			new KeyName[] { HighCardinality.NAME, HighCardinality.TOKEN }),

	/**
	 * A thread waits for a lock that has another holder.
	 */
	WAIT(new KeyName[] { LowCardinality.LOCK, LowCardinality.OUTCOME },
			new KeyName[] { HighCardinality.NAME, HighCardinality.TOKEN }),

	/**
	 * A lock is held, from its grant to its release or loss.
	 */
	HOLD(new KeyName[] { LowCardinality.LOCK, LowCardinality.OUTCOME },
			new KeyName[] { HighCardinality.NAME, HighCardinality.TOKEN }),

	/**
	 * The leases of several locks are renewed by one request.
	 */
	RENEW(new KeyName[] { LowCardinality.OUTCOME }, new KeyName[] { HighCardinality.LOCKS }),

	/**
	 * A lock is released by one request.
	 */
	RELEASE(new KeyName[] { LowCardinality.OUTCOME }, new KeyName[] { HighCardinality.NAME });

	private final String name;

	private final KeyName[] lowCardinality;

	private final KeyName[] highCardinality;

	LockObservationDocumentation(KeyName[] lowCardinality, KeyName[] highCardinality) {
		this.name = "dblock." + name().toLowerCase(Locale.ROOT);
		this.lowCardinality = lowCardinality;
		this.highCardinality = highCardinality;
	}

	static LockObservationDocumentation of(LockObserver.Activity activity) {
		return valueOf(activity.name());
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public KeyName[] getLowCardinalityKeyNames() {
		return this.lowCardinality.clone();
	}

	@Override
	public KeyName[] getHighCardinalityKeyNames() {
		return this.highCardinality.clone();
	}

	/**
	 * Tags of timers and of spans.
	 */
	public interface LowCardinality {

		/**
		 * The name of the lock in metrics: for an annotated method the name as declared,
		 * otherwise the label of its options, or "none".
		 */
		KeyName LOCK = () -> "lock";

		/**
		 * The outcome; "none" while the activity is in progress.
		 */
		KeyName OUTCOME = () -> "outcome";

	}

	/**
	 * Tags of spans only.
	 */
	public interface HighCardinality {

		/**
		 * The full name of the lock.
		 */
		KeyName NAME = () -> "dblock.name";

		/**
		 * The fencing token of the grant.
		 */
		KeyName TOKEN = () -> "dblock.token";

		/**
		 * The number of locks.
		 */
		KeyName LOCKS = () -> "dblock.locks";

	}

}
