package com.acme;

import java.util.ArrayList;
import java.util.List;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobRun;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * A scheduled job.
 */
@Component
public class Statements {

	private final List<JobRun> sent = new ArrayList<>();

	@Scheduled(cron = "0 0 2 1 * *")
	@DistributedLock("monthly-statements")
	public void send() {
		this.sent.add(JobRun.current().orElseThrow());
	}

	List<JobRun> sent() {
		return this.sent;
	}

}
