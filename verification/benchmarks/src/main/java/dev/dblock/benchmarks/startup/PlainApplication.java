package dev.dblock.benchmarks.startup;

import java.util.concurrent.TimeUnit;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Application with a scheduled job and without locks. The class path decides whether
 * dblock is present.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableScheduling
public class PlainApplication {

	public static void main(String[] args) throws InterruptedException {
		Started.run(PlainApplication.class, args);
	}

	@Bean
	Job job() {
		return new Job();
	}

	static class Job {

		@Scheduled(fixedRate = 1, initialDelay = 1, timeUnit = TimeUnit.HOURS)
		public void run() {
		}

	}

}
