package com.example.invoices;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.bson.Document;

import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Jobs that write down when they ran.
 */
public class InvoiceJobs {

	private final MongoTemplate mongo;

	private final LockingTaskExecutor executor;

	InvoiceJobs(MongoTemplate mongo, LockingTaskExecutor executor) {
		this.mongo = mongo;
		this.executor = executor;
	}

	@Scheduled(cron = "* * * * * *")
	@SchedulerLock(name = "invoices", lockAtMostFor = "${invoices.at-most:30s}")
	public void invoice() {
		LockAssert.assertLocked();
		this.mongo.insert(new Document("job", "invoices").append("second", System.currentTimeMillis() / 1000), "runs");
	}

	@Scheduled(fixedDelay = 300, timeUnit = TimeUnit.MILLISECONDS)
	@SchedulerLock(name = "reminders", lockAtMostFor = "PT30S", lockAtLeastFor = "PT0.2S")
	public void remind() {
		LockAssert.assertLocked();
		LockExtender.extendActiveLock(Duration.ofSeconds(20), Duration.ofMillis(200));
		this.mongo.insert(new Document("job", "reminders"), "runs");
	}

	public void archive() {
		this.executor.executeWithLock((Runnable) () -> this.mongo.insert(new Document("job", "archive"), "runs"),
				new LockConfiguration(ClockProvider.now(), "archive", Duration.ofMinutes(1), Duration.ZERO));
	}

}
