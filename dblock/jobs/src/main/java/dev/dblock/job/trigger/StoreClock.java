package dev.dblock.job.trigger;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clock of the server that stores the locks, as far as its answers have shown it,
 * continued by {@link System#nanoTime()}. Until there is an answer, it shows the
 * scheduler's own time.
 */
public final class StoreClock {

	private static final Logger logger = LoggerFactory.getLogger(StoreClock.class);

	/** A difference that neither a slow answer nor an ordinary drift explains. */
	private static final Duration SUSPICIOUS = Duration.ofSeconds(10);

	private final LongSupplier nanoTime;

	private final long created;

	private @Nullable Reading reading;

	/** The server's time when this clock was created, as far as it is known. */
	private Instant started = Instant.MIN;

	private boolean warned;

	public StoreClock(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.created = nanoTime.getAsLong();
	}

	public long nanoTime() {
		return this.nanoTime.getAsLong();
	}

	/**
	 * Return the current time of the server.
	 * @param own the scheduler's clock
	 */
	public synchronized Instant now(Clock own) {
		return (this.reading != null) ? this.reading.at(nanoTime()) : own.instant();
	}

	/**
	 * Return the time of the server at a past moment.
	 * @param moment its {@code nanoTime}
	 * @param own the scheduler's clock
	 */
	public synchronized Instant at(long moment, Clock own) {
		return now(own).minusNanos(nanoTime() - moment);
	}

	/**
	 * Return the server's time when this instance started; {@link Instant#MIN} as long as
	 * no answer has shown it.
	 */
	public synchronized Instant started() {
		return this.started;
	}

	public synchronized boolean isKnown() {
		return this.reading != null;
	}

	/**
	 * Convert an instant of the server's clock to the scheduler's clock.
	 * @param server the instant
	 * @param own the scheduler's clock
	 */
	public Instant toOwn(Instant server, Clock own) {
		return own.instant().plus(Duration.between(now(own), server));
	}

	/**
	 * Convert a past instant of the scheduler's clock to the server's clock. If the
	 * scheduler's clock was set back since then, return the current time.
	 * @param past the instant
	 * @param own the scheduler's clock
	 */
	Instant toServer(Instant past, Clock own) {
		Duration ago = Duration.between(past, own.instant());
		return ago.isNegative() ? now(own) : now(own).minus(ago);
	}

	/**
	 * Learn the time from an answer that has just arrived. The server's clock has shown
	 * the instant at some time after the request was sent, so the estimate is changed
	 * only as far as the answer contradicts it.
	 * @param server the time of the server's clock
	 * @param sent the {@code nanoTime} before the request was sent
	 * @param own the scheduler's clock
	 */
	public synchronized void learn(Instant server, long sent, Clock own) {
		long received = nanoTime();
		Instant latest = server.plusMillis(1).plusNanos(Math.max(0, received - sent));
		Instant estimate = (this.reading != null) ? this.reading.at(received) : server;
		if (estimate.isBefore(server)) {
			estimate = server;
		}
		else if (estimate.isAfter(latest)) {
			estimate = latest;
		}
		if (this.reading == null) {
			this.started = estimate.minusNanos(received - this.created);
		}
		this.reading = new Reading(estimate, received);
		warn(estimate, own.instant());
	}

	private void warn(Instant server, Instant own) {
		Duration difference = Duration.between(server, own).abs();
		if (difference.compareTo(SUSPICIOUS) <= 0) {
			this.warned = false;
		}
		else if (!this.warned) {
			this.warned = true;
			logger.warn("The clock of this instance shows {}, but that of the MongoDB server shows {}. Jobs run by"
					+ " the server's clock; correct the one that is wrong", own, server);
		}
	}

	/**
	 * A reading of the server's clock.
	 *
	 * @param server the instant
	 * @param nanos the {@code nanoTime} of that moment
	 */
	private record Reading(Instant server, long nanos) {

		Instant at(long now) {
			return this.server.plus(now - this.nanos, TimeUnit.NANOSECONDS.toChronoUnit());
		}

	}

}
