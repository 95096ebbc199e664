package dev.dblock.mongodb.request;

import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the server's clock by samples.
 */
final class ServerClock {

	private final LongSupplier nanoTime;

	private final LongSupplier wallTime;

	private final Supplier<Object> topology;

	private final Function<StoreRequest, BsonDocument> hello;

	private volatile @Nullable ClockSample sample;

	ServerClock(LongSupplier nanoTime, LongSupplier wallTime, Supplier<Object> topology,
			Function<StoreRequest, BsonDocument> hello) {
		this.nanoTime = nanoTime;
		this.wallTime = wallTime;
		this.topology = topology;
		this.hello = hello;
	}

	/**
	 * Read the clock. Sends a request to the server if the last sample is no longer
	 * valid.
	 * @param store the store
	 * @return the bounds of the server's clock at this time
	 */
	Reading read(StoreRequest store) {
		Object topology = this.topology.get();
		ClockSample sample = this.sample;
		if (sample == null || !sample.isGood(this.nanoTime.getAsLong(), this.wallTime.getAsLong(), topology)) {
			return readAnew(store, topology);
		}
		return reading(sample);
	}

	/**
	 * Read the clock with a new request to the server, so that the bounds are as close
	 * together as possible.
	 * @param store the store
	 * @return the bounds of the server's clock at this time
	 */
	Reading readAnew(StoreRequest store) {
		return readAnew(store, this.topology.get());
	}

	private Reading readAnew(StoreRequest store, Object topology) {
		ClockSample sample = take(store, topology);
		this.sample = sample;
		return reading(sample);
	}

	private Reading reading(ClockSample sample) {
		long now = this.nanoTime.getAsLong();
		return new Reading(sample, sample.notBefore(now), sample.notAfter(now));
	}

	/**
	 * Check a reading after a write that was dated by it, with a new request to the
	 * server. The next reading uses the new sample.
	 * @param store the store
	 * @param reading the reading by which the write was dated
	 * @return whether the server's clock confirms it
	 */
	boolean confirms(StoreRequest store, Reading reading) {
		ClockSample later = take(store, this.topology.get());
		this.sample = later;
		return reading.sample().isConfirmedBy(later);
	}

	// With the topology before the request: if it changes in the meantime, the sample is
	// dropped at its next use.
	private ClockSample take(StoreRequest store, Object topology) {
		long sent = this.nanoTime.getAsLong();
		BsonDocument hello = this.hello.apply(store);
		long received = this.nanoTime.getAsLong();
		return new ClockSample(hello.getDateTime("localTime").getValue(), sent, received, this.wallTime.getAsLong(),
				topology);
	}

	/**
	 * Drop the sample after a failed request, since another server may answer the next
	 * one.
	 */
	void forget() {
		this.sample = null;
	}

	/**
	 * The time of the server's clock, in milliseconds.
	 *
	 * @param sample the sample from which it is derived
	 * @param notBefore the earliest possible time
	 * @param notAfter the latest possible time
	 */
	record Reading(ClockSample sample, long notBefore, long notAfter) {
	}

}
