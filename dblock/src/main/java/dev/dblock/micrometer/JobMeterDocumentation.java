package dev.dblock.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;

/**
 * The meters of jobs.
 */
enum JobMeterDocumentation implements MeterDocumentation {

	/**
	 * The runs of a job on this instance, from the grant of its lock to their end.
	 */
	RUNS("dblock.job.runs", Meter.Type.TIMER, Keys.JOB, Keys.OUTCOME),

	/**
	 * The seconds since a job last succeeded on any instance.
	 */
	SINCE_SUCCESS("dblock.job.since.success", Meter.Type.GAUGE, Keys.JOB),

	/**
	 * The planned times that were not run.
	 */
	MISSED("dblock.job.missed", Meter.Type.COUNTER, Keys.JOB);

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
		 * The id of the job.
		 */
		KeyName JOB = () -> "job";

		/**
		 * How the run ended.
		 */
		KeyName OUTCOME = () -> "outcome";

	}

}
