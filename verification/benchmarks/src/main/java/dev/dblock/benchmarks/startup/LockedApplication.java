package dev.dblock.benchmarks.startup;

import dev.dblock.DistributedLock;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Application with one locked method.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class LockedApplication {

	public static void main(String[] args) {
		BareApplication.start(LockedApplication.class, args);
	}

	@Bean
	Job job() {
		return new Job();
	}

	static class Job {

		@DistributedLock("job-#{#number}")
		public void run(int number) {
		}

	}

}
