package dev.dblock.faults;

import java.time.Duration;

import dev.dblock.testing.MongoNode;
import org.awaitility.Awaitility;
import org.bson.Document;

/**
 * Fail point of a server, with whether any command has met it. The server counts these
 * commands since its start, and returns the count when the fail point is set.
 */
final class FailPoint {

	private static final Duration BACK_LIMIT = Duration.ofSeconds(180);

	private final String name;

	private final MongoNode server;

	/** Until the count is known, the fail point was never met. */
	private long before = Long.MAX_VALUE;

	private long after;

	FailPoint(String name, MongoNode server) {
		this.name = name;
		this.server = server;
	}

	/**
	 * Switch the fail point off, and count from here on.
	 */
	void reset() {
		this.before = set("off");
	}

	void switchOn() {
		set("alwaysOn");
	}

	/**
	 * Switch the fail point off once its server is running. A frozen server still has the
	 * fail point. A restarted server does not, and no longer has its count.
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
