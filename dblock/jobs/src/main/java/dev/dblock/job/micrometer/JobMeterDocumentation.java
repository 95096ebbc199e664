package dev.dblock.job.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;

/**
 * The meters of jobs.
 */
public enum JobMeterDocumentation implements MeterDocumentation {

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

	private final String name;

	private final Meter.Type type;

	private final KeyName[] keys;

	JobMeterDocumentation(String name, Meter.Type type, KeyName... keys) {
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
