package dev.dblock.job.schedule;

import java.time.Instant;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

import dev.dblock.job.trigger.PlannedTimes;
import org.jspecify.annotations.Nullable;

/**
 * Planned times of a job for which a request of this instance failed, and none has begun
 * here. The lock may have been granted for them all the same.
 */
final class DoubtfulTimes {

	/** Reached only by a very long outage. */
	private static final int MOST = PlannedTimes.MOST;

	/** More than can be requested a second time. */
	private static final int MOST_CLEAR = 100;

	private final NavigableMap<Instant, String> failures = new TreeMap<>();

	/**
	 * Those that are no longer in doubt. A planned time can be requested twice, and fail
	 * after it has begun or was found in the record.
	 */
	private final NavigableSet<Instant> clear = new TreeSet<>();

	/**
	 * Record that a request has failed.
	 * @param failure why
	 */
	synchronized void failed(Instant planned, Throwable failure) {
		if (!this.clear.contains(planned)) {
			this.failures.put(planned, String.valueOf(failure.getMessage()));
			if (this.failures.size() > MOST) {
				this.failures.pollFirstEntry();
			}
		}
	}

	/**
	 * Record that the work of a planned time begins.
	 * @return whether it begins for the first time
	 */
	synchronized boolean begins(Instant planned) {
		boolean first = !this.clear.contains(planned);
		remove(planned, true);
		return first;
	}

	/**
	 * Remove a planned time that is no longer in doubt.
	 * @param granted whether it is known to be granted, so that it cannot be in doubt
	 * again
	 * @return why its request failed; {@code null} if it was not in doubt
	 */
	synchronized @Nullable String remove(Instant planned, boolean granted) {
		if (granted) {
			this.clear.add(planned);
			if (this.clear.size() > MOST_CLEAR) {
				this.clear.pollFirst();
			}
		}
		return this.failures.remove(planned);
	}

	synchronized boolean contains(Instant planned) {
		return this.failures.containsKey(planned);
	}

	synchronized boolean isEmpty() {
		return this.failures.isEmpty();
	}

	/**
	 * Return those before an instant, in order.
	 */
	synchronized List<Instant> before(Instant instant) {
		return List.copyOf(this.failures.headMap(instant).keySet());
	}

}
