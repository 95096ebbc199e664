package dev.dblock.mongodb.request;

import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The server's clock, followed from here by samples.
 */
public final class ServerClock {

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
	 * Read the clock, asking the server if the last sample no longer says anything.
	 * @param store the store
	 * @return between which times the server's clock is now
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
	 * Ask the server in any case: the bounds are as close together as they can be.
	 * @param store the store
	 * @return between which times the server's clock is now
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
	 * Check a reading after a write that it has dated, by asking the server once more.
	 * The next reading uses this answer.
	 * @param store the store
	 * @param reading what the write was dated by
	 * @return whether the server's clock confirms it
	 */
	boolean confirms(StoreRequest store, Reading reading) {
		ClockSample later = take(store, this.topology.get());
		this.sample = later;
		return reading.sample().isConfirmedBy(later);
	}

	// The topology as it was before: if it changes meanwhile, the sample is dropped at
	// its next use.
	private ClockSample take(StoreRequest store, Object topology) {
		long sent = this.nanoTime.getAsLong();
		BsonDocument hello = this.hello.apply(store);
		long received = this.nanoTime.getAsLong();
		return new ClockSample(hello.getDateTime("localTime").getValue(), sent, received, this.wallTime.getAsLong(),
				topology);
	}

	/**
	 * Drop the sample: a request failed, and another server may answer the next one.
	 */
	void forget() {
		this.sample = null;
	}

	/**
	 * What the server's clock shows, in milliseconds.
	 *
	 * @param sample the sample that says so
	 * @param notBefore it shows this or something later
	 * @param notAfter it shows this or something earlier
	 */
	public record Reading(ClockSample sample, long notBefore, long notAfter) {
	}

}
