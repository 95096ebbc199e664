package dev.dblock.micrometer;

import java.util.EnumSet;
import java.util.Set;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;

/**
 * The meters of locks and jobs, in addition to the timers of
 * {@link LockObservationDocumentation}.
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
	NOT_RENEWED("dblock.renewals.failed", Meter.Type.COUNTER),

	/**
	 * The runs of a job on this instance, from the grant of its lock to their end, and
	 * the crashed runs that this instance noticed, without their durations.
	 */
	RUNS("dblock.job.runs", Meter.Type.TIMER, Keys.JOB_ID, Keys.OUTCOME),

	/**
	 * The seconds since a job last succeeded on any instance.
	 */
	SINCE_SUCCESS("dblock.job.since.success", Meter.Type.GAUGE, Keys.JOB_ID),

	/**
	 * Whether no instance has run a planned time of a job a minute later: 1 or 0.
	 */
	OVERDUE("dblock.job.overdue", Meter.Type.GAUGE, Keys.JOB_ID),

	/**
	 * Whether an operator paused a job: 1 or 0.
	 */
	PAUSED("dblock.job.paused", Meter.Type.GAUGE, Keys.JOB_ID),

	/**
	 * The planned times that were not run.
	 */
	MISSED("dblock.job.missed", Meter.Type.COUNTER, Keys.JOB_ID);

	/** The meters of jobs. */
	static final Set<LockMeterDocumentation> OF_JOBS = EnumSet.of(RUNS, SINCE_SUCCESS, OVERDUE, PAUSED, MISSED);

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
		 * Why the lease was lost.
		 */
		KeyName REASON = () -> "reason";

		/**
		 * The id of the job. Prometheus has a label {@code job} of its own, and renames a
		 * tag that is called the same.
		 */
		KeyName JOB_ID = () -> "job.id";

		/**
		 * How the run ended.
		 */
		KeyName OUTCOME = () -> "outcome";

	}

}
