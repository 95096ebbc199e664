package dev.dblock.job.trigger;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * The time of a test: that of the server, and the clock of an instance, which can be
 * wrong.
 */
public final class MovedClock extends Clock {

	private final Instant start;

	private Duration passed = Duration.ZERO;

	private Duration wrongBy = Duration.ZERO;

	public MovedClock(String server) {
		this.start = Instant.parse(server);
	}

	/**
	 * Let time pass.
	 */
	public void pass(Duration time) {
		this.passed = this.passed.plus(time);
	}

	public void passUntil(Instant server) {
		pass(Duration.between(server(), server));
	}

	/**
	 * Set the clock of the instance.
	 */
	public void set(Duration wrongBy) {
		this.wrongBy = wrongBy;
	}

	public Instant server() {
		return this.start.plus(this.passed);
	}

	public long nanoTime() {
		return this.passed.toNanos();
	}

	@Override
	public Instant instant() {
		return server().plus(this.wrongBy);
	}

	@Override
	public ZoneId getZone() {
		return ZoneOffset.UTC;
	}

	@Override
	public Clock withZone(ZoneId zone) {
		return this;
	}

}
