package dev.dblock.faults;

import java.time.Duration;

import dev.dblock.testing.MongoNode;
import org.awaitility.Awaitility;
import org.bson.Document;

/**
 * A fail point of a server, and whether anything has met it. The server counts that since
 * its start, and tells when the fail point is set.
 */
final class FailPoint {

	private static final Duration BACK_LIMIT = Duration.ofSeconds(180);

	private final String name;

	private final MongoNode server;

	/** What is not counted from here on was never there. */
	private long before = Long.MAX_VALUE;

	private long after;

	FailPoint(String name, MongoNode server) {
		this.name = name;
		this.server = server;
	}

	/**
	 * Have it off, and count from here on.
	 */
	void reset() {
		this.before = set("off");
	}

	void switchOn() {
		set("alwaysOn");
	}

	/**
	 * Have it off, as soon as its server is there: a frozen one has it still, and one
	 * that was started again has not, and does not know what it had.
	 */
	void switchOff() {
		Awaitility.await("a server that can be asked").atMost(BACK_LIMIT).until(this.server::isRunning);
		this.after = set("off");
	}

	boolean wasMet() {
		return this.after > this.before;
	}

	private long set(String mode) {
		return this.server.command(new Document("configureFailPoint", this.name).append("mode", mode))
			.get("count", Number.class)
			.longValue();
	}

}
