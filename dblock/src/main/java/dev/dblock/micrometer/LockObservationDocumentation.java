package dev.dblock.micrometer;

import java.util.Locale;

import dev.dblock.observation.LockActivity;
import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observations of locks, each of which results in a timer and a span.
 */
public enum LockObservationDocumentation implements ObservationDocumentation {

	/**
	 * A thread requests a lock, including the wait.
	 */
	ACQUIRE(LockActivity.ACQUIRE, new KeyName[] { LowCardinality.LOCK, LowCardinality.OUTCOME },
			new KeyName[] { HighCardinality.NAME, HighCardinality.TOKEN }),

	/**
	 * A thread waits for a lock that has another holder.
	 */
	WAIT(LockActivity.WAIT, new KeyName[] { LowCardinality.LOCK, LowCardinality.OUTCOME },
			new KeyName[] { HighCardinality.NAME, HighCardinality.TOKEN }),

	/**
	 * A lock is held, from its grant to its release or loss.
	 */
	HOLD(LockActivity.HOLD, new KeyName[] { LowCardinality.LOCK, LowCardinality.OUTCOME },
			new KeyName[] { HighCardinality.NAME, HighCardinality.TOKEN }),

	/**
	 * The leases of several locks are renewed by one request.
	 */
	RENEW(LockActivity.RENEW, new KeyName[] { LowCardinality.OUTCOME }, new KeyName[] { HighCardinality.LOCKS }),

	/**
	 * A lock is released by one request.
	 */
	RELEASE(LockActivity.RELEASE, new KeyName[] { LowCardinality.OUTCOME }, new KeyName[] { HighCardinality.NAME });

	private final LockActivity activity;

	private final KeyName[] lowCardinality;

	private final KeyName[] highCardinality;

	LockObservationDocumentation(LockActivity activity, KeyName[] lowCardinality, KeyName[] highCardinality) {
		this.activity = activity;
		this.lowCardinality = lowCardinality;
		this.highCardinality = highCardinality;
	}

	static LockObservationDocumentation of(LockActivity activity) {
		return switch (activity) {
			case ACQUIRE -> ACQUIRE;
			case WAIT -> WAIT;
			case HOLD -> HOLD;
			case RENEW -> RENEW;
			case RELEASE -> RELEASE;
		};
	}

	@Override
	public String getName() {
		return "dblock." + this.activity.name().toLowerCase(Locale.ROOT);
	}

	@Override
	public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
		return DefaultLockObservationConvention.class;
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
	public enum LowCardinality implements KeyName {

		/**
		 * The name of the lock in metrics: for an annotated method the name as declared,
		 * otherwise the label of its options, or "none".
		 */
		LOCK("lock"),

		/**
		 * The outcome; "none" while the activity is in progress.
		 */
		OUTCOME("outcome");

		private final String key;

		LowCardinality(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

	/**
	 * Tags of spans only.
	 */
	public enum HighCardinality implements KeyName {

		/**
		 * The full name of the lock.
		 */
		NAME("dblock.name"),

		/**
		 * The fencing token of the grant.
		 */
		TOKEN("dblock.token"),

		/**
		 * The number of locks.
		 */
		LOCKS("dblock.locks");

		private final String key;

		HighCardinality(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

}
