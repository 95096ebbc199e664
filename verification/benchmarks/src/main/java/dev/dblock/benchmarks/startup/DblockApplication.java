package dev.dblock.benchmarks.startup;

import java.util.concurrent.TimeUnit;

import dev.dblock.DistributedLock;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Application with a scheduled job that dblock locks.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableScheduling
public class DblockApplication {

	public static void main(String[] args) throws InterruptedException {
		Started.run(DblockApplication.class, args);
	}

	@Bean
	Job job() {
		return new Job();
	}

	static class Job {

		@Scheduled(fixedRate = 1, initialDelay = 1, timeUnit = TimeUnit.HOURS)
		@DistributedLock("job")
		public void run() {
		}

	}

}
