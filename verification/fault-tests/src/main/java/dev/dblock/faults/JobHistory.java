package dev.dblock.faults;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * Observations of a round.
 *
 * @param events the events of the workers, in the order of time
 * @param recorded the runs that the servers recorded
 * @param windows the times of the faults
 * @param stuck the processes that did not begin or did not end
 * @param jobs the jobs that run each second
 * @param judged the time within which planned times are judged, in {@code nanoTime}
 * @param epochNanos the {@code nanoTime} of the epoch
 */
record JobHistory(List<JobEvent> events, List<RecordedRun> recorded, List<Window> windows, List<String> stuck,
		List<String> jobs, Span judged, long epochNanos) {

	/**
	 * Return the planned times of a job that are judged.
	 * @param seconds the time between two of them
	 */
	LongStream plannedTimes(int seconds) {
		long step = TimeUnit.SECONDS.toMillis(seconds);
		long first = millisOf(this.judged.from()) / step * step + step;
		return LongStream.iterate(first, this::isJudged, (planned) -> planned + step);
	}

	/**
	 * Return whether a planned time is judged.
	 */
	boolean isJudged(long planned) {
		long nanos = nanosOf(planned);
		return nanos >= this.judged.from() && nanos < this.judged.to();
	}

	/**
	 * Return the {@code nanoTime} of an instant of the servers' clocks, which are off by
	 * 100 ms at most.
	 */
	long nanosOf(long millis) {
		return this.epochNanos + TimeUnit.MILLISECONDS.toNanos(millis);
	}

	/**
	 * Return the instant of a {@code nanoTime}, in milliseconds.
	 */
	long millisOf(long nanos) {
		return TimeUnit.NANOSECONDS.toMillis(nanos - this.epochNanos);
	}

}
