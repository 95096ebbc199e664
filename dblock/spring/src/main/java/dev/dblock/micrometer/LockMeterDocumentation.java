package dev.dblock.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;

/**
 * The meters of locks, in addition to the timers of {@link LockObservationDocumentation}.
 */
enum LockMeterDocumentation implements MeterDocumentation {

	/**
	 * The number of locks that this process holds.
	 */
	HELD("dblock.locks.held", Meter.Type.GAUGE),

	/**
	 * The number of threads of this process that wait for a lock.
	 */
	WAITING("dblock.locks.waiting", Meter.Type.GAUGE),

	/**
	 * The number of permits of a lock that this process holds.
	 */
	PERMITS_HELD("dblock.permits.held", Meter.Type.GAUGE, Keys.LOCK),

	/**
	 * How many permits this process requested last as the largest number of a lock.
	 */
	PERMITS("dblock.permits", Meter.Type.GAUGE, Keys.LOCK),

	/**
	 * The number of attempts of waiting threads to acquire their lock.
	 */
	ATTEMPTS("dblock.wait.attempts", Meter.Type.COUNTER, Keys.CAUSE),

	/**
	 * Leases that were lost while their holders relied on them.
	 */
	LOST("dblock.leases.lost", Meter.Type.COUNTER, Keys.REASON),

	/**
	 * Leases that were renewed with less than a third of them left.
	 */
	RENEWED_LATE("dblock.renewals.late", Meter.Type.COUNTER),

	/**
	 * Leases that a failed request should have renewed; each is tried again.
	 */
	NOT_RENEWED("dblock.renewals.failed", Meter.Type.COUNTER);

	private final String name;

	private final Meter.Type type;

	private final KeyName[] keys;

	LockMeterDocumentation(String name, Meter.Type type, KeyName... keys) {
		this.name = name;
		this.type = type;
		this.keys = keys;
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public Meter.Type getType() {
		return this.type;
	}

	@Override
	public KeyName[] getKeyNames() {
		return this.keys.clone();
	}

	/**
	 * Tags.
	 */
	public interface Keys {

		/**
		 * The cause of the attempt.
		 */
		KeyName CAUSE = () -> "cause";

		/**
		 * The name of the lock in metrics.
		 */
		KeyName LOCK = LockObservationDocumentation.LowCardinality.LOCK;

		/**
		 * Why the lease was lost.
		 */
		KeyName REASON = () -> "reason";

	}

}
