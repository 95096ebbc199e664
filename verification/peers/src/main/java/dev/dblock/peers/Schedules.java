package dev.dblock.peers;

import java.time.Duration;
import java.util.Map;

/**
 * The two schedules that each peer runs.
 */
final class Schedules {

	static final String FIVE = "five";

	static final String ONE = "one";

	static final String EVERY_FIVE_SECONDS = "*/5 * * * * *";

	static final String EVERY_SECOND = "* * * * * *";

	static final Map<String, Duration> PERIODS = Map.of(FIVE, Duration.ofSeconds(5), ONE, Duration.ofSeconds(1));

	private Schedules() {
	}

}
