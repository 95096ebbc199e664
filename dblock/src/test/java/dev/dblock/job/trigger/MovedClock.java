package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * The time of a test: that of the server, and the clock of an instance, which can be
 * wrong.
 */
final class MovedClock extends Clock {

	private final Instant start;

	private Duration passed = Duration.ZERO;

	private Duration wrongBy = Duration.ZERO;

	MovedClock(String server) {
		this.start = Instant.parse(server);
	}

	/**
	 * Let time pass.
	 */
	void pass(Duration time) {
		this.passed = this.passed.plus(time);
	}

	void passUntil(Instant server) {
		pass(Duration.between(server(), server));
	}

	/**
	 * Set the clock of the instance.
	 */
	void set(Duration wrongBy) {
		this.wrongBy = wrongBy;
	}

	Instant server() {
		return this.start.plus(this.passed);
	}

	long nanoTime() {
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
