package dev.dblock.faults;

import com.mongodb.client.MongoClient;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * Configuration of the application that each worker with jobs runs. Its profile selects
 * the jobs.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableScheduling
@Import(OwnRoute.class)
class JobWorkerConfiguration {

	@Configuration(proxyBeanMethods = false)
	@Profile("cron")
	@Import(CronJobs.class)
	static class Cron {

	}

	@Configuration(proxyBeanMethods = false)
	@Profile("periodic")
	static class Periodic {

		@Bean
		PeriodicJobs periodicJobs(JobRecords records) {
			return new PeriodicJobs(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Profile(VersionedJobs.PROFILE)
	static class Versions {

		@Bean
		VersionedJobs versionedJobs(JobRecords records) {
			return new VersionedJobs(records);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Profile("shedlock")
	@EnableSchedulerLock(defaultLockAtMostFor = "30s")
	static class ShedLock {

		@Bean
		ShedLockJobs shedLockJobs(JobRecords records) {
			return new ShedLockJobs(records);
		}

		@Bean
		LockProvider lockProvider(MongoClient client, @Value("${faults.database}") String database) {
			return new MongoLockProvider(client.getDatabase(database));
		}

	}

}
