package dev.dblock.compatibility;

import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobRun;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * A night has a fifth of a second.
 */
@Component
public class NightlyJob {

	private final AtomicInteger lockedRuns = new AtomicInteger();

	@Scheduled(fixedDelay = 200)
	@DistributedLock(name = "nightly")
	void run() {
		if (JobRun.current().isPresent()) {
			this.lockedRuns.incrementAndGet();
		}
	}

	/**
	 * Runs never in a test.
	 */
	@Scheduled(cron = "0 0 2 29 2 *", zone = "Asia/Tokyo")
	@DistributedLock(name = "leap-day")
	void runOnLeapDay() {
	}

	/**
	 * How often it ran under its lock, for a planned time.
	 */
	public int lockedRuns() {
		return this.lockedRuns.get();
	}

}
