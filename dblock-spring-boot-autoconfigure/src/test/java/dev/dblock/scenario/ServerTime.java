package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.testing.MongoNode;
import org.bson.Document;

/**
 * The server's clock, anchored to this process's monotonic one by one answer of the
 * server.
 *
 * @param localTime the server's time when it answered
 * @param sentNanos before it was asked
 * @param receivedNanos after it had answered
 */
record ServerTime(Instant localTime, long sentNanos, long receivedNanos) {

	static ServerTime sample(MongoNode node) {
		long sent = System.nanoTime();
		Document hello = node.command(new Document("hello", 1));
		return new ServerTime(hello.getDate("localTime").toInstant(), sent, System.nanoTime());
	}

	/**
	 * Returns the earliest possible time of the server's clock.
	 * @param nanos a moment of the monotonic clock
	 */
	Instant earliest(long nanos) {
		return this.localTime.plusNanos(nanos - this.receivedNanos);
	}

	/**
	 * Returns the latest possible time of the server's clock, which has whole
	 * milliseconds.
	 * @param nanos a moment of the monotonic clock
	 */
	Instant latest(long nanos) {
		return this.localTime.plus(Duration.ofMillis(1)).plusNanos(nanos - this.sentNanos);
	}

}
