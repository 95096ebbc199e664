package dev.dblock.sample;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.DistributedLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * A job that is due on every instance at the same second and runs on one of them. The
 * others wait a little, so that they take over as soon as the lease of one that died has
 * ended, and not at their next second. The minimum hold is longer than that wait and than
 * the difference of the instances' clocks, so none of them runs the job again.
 */
@Component
class StockReport {

	private static final Logger logger = LoggerFactory.getLogger(StockReport.class);

	private final long everySeconds;

	private final Duration work;

	StockReport(@Value("${sample.report.every-seconds}") long everySeconds,
			@Value("${sample.report.work}") Duration work) {
		this.everySeconds = everySeconds;
		this.work = work;
	}

	@Scheduled(cron = "*/${sample.report.every-seconds} * * * * *")
	@DistributedLock(name = "stock-report", waitString = "${sample.report.wait}",
			minHoldString = "${sample.report.min-hold}")
	void write() throws InterruptedException {
		long now = Instant.now().getEpochSecond();
		logger.info("WORKS     on the stock report of {}", Instant.ofEpochSecond(now - now % this.everySeconds));
		Thread.sleep(this.work.toMillis());
	}

}
