package dev.dblock.benchmarks.startup;

import java.util.concurrent.TimeUnit;

import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Application with a scheduled job that ShedLock locks.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "10m")
public class ShedLockApplication {

	public static void main(String[] args) throws InterruptedException {
		Started.run(ShedLockApplication.class, args);
	}

	@Bean
	LockProvider lockProvider(MongoDatabaseFactory databases) {
		return new MongoLockProvider(databases.getMongoDatabase());
	}

	@Bean
	Job job() {
		return new Job();
	}

	static class Job {

		@Scheduled(fixedRate = 1, initialDelay = 1, timeUnit = TimeUnit.HOURS)
		@SchedulerLock(name = "job")
		public void run() {
		}

	}

}
