package dev.dblock.faults;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

import org.springframework.scheduling.annotation.Scheduled;

/**
 * Jobs of 1 ms each second under ShedLock, without {@code lockAtLeastFor}. They have no
 * planned time, so the second of their own clock is used instead.
 */
class ShedLockJobs {

	static final int JOBS = 4;

	private final JobRecords records;

	ShedLockJobs(JobRecords records) {
		this.records = records;
	}

	@Scheduled(cron = "* * * * * *")
	@SchedulerLock(name = "shedlock-1")
	void one() throws InterruptedException {
		run("shedlock-1");
	}

	@Scheduled(cron = "* * * * * *")
	@SchedulerLock(name = "shedlock-2")
	void two() throws InterruptedException {
		run("shedlock-2");
	}

	@Scheduled(cron = "* * * * * *")
	@SchedulerLock(name = "shedlock-3")
	void three() throws InterruptedException {
		run("shedlock-3");
	}

	@Scheduled(cron = "* * * * * *")
	@SchedulerLock(name = "shedlock-4")
	void four() throws InterruptedException {
		run("shedlock-4");
	}

	private void run(String job) throws InterruptedException {
		this.records.workAt(job, Instant.now().getEpochSecond());
		TimeUnit.MILLISECONDS.sleep(1);
	}

}
