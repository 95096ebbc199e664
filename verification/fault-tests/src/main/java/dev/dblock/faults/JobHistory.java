package dev.dblock.faults;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import dev.dblock.faults.JobEvent.What;

/**
 * Observations of a round.
 *
 * @param events the events of the workers, in the order of time
 * @param recorded the runs that the servers recorded
 * @param windows the times of the faults
 * @param stuck the processes that did not begin or did not end
 * @param jobs the jobs that are judged
 * @param judged the time within which planned times are judged, in {@code nanoTime}
 * @param epochNanos the {@code nanoTime} of the epoch
 */
record JobHistory(List<JobEvent> events, List<RecordedRun> recorded, List<Window> windows, List<String> stuck,
		Jobs jobs, Span judged, long epochNanos) {

	/** How long a pause, or its end, takes at most. */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	/**
	 * Return whether a job was paused at a planned time, or might have been.
	 */
	boolean isPaused(String job, long planned) {
		long at = nanosOf(planned);
		boolean paused = false;
		for (JobEvent event : this.events) {
			if (event.job().equals(job) && event.what() == What.PAUSED && event.nanos() < at + PAUSE.toNanos()) {
				paused = true;
			}
			if (event.job().equals(job) && event.what() == What.RESUMED && event.nanos() < at - PAUSE.toNanos()) {
				paused = false;
			}
		}
		return paused;
	}

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

	/**
	 * Jobs that are judged.
	 *
	 * @param shortOnes the jobs that run each second
	 * @param longOnes the jobs that are planned for each second, and take longer
	 * @param rareOnes the jobs that run rarely
	 * @param shardedOnes the jobs that are planned for each second, and have shards
	 * @param accounted whether each planned time is to be reported if it is not run,
	 * since the schedules do not change
	 */
	record Jobs(List<String> shortOnes, List<String> longOnes, List<String> rareOnes, List<String> shardedOnes,
			boolean accounted) {

		static Jobs none() {
			return new Jobs(List.of(), List.of(), List.of(), List.of(), false);
		}

		Stream<String> eachSecond() {
			return Stream.concat(this.shortOnes.stream(), this.longOnes.stream());
		}

	}

}
