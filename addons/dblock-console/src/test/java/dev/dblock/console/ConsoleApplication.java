package dev.dblock.console;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobRun;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * An application with jobs, and without Spring Security.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(excludeName = { "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
		"org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
		"org.springframework.boot.security.autoconfigure.ReactiveUserDetailsServiceAutoConfiguration",
		"org.springframework.boot.security.autoconfigure.actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration",
		"org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
		"org.springframework.boot.security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration",
		"org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
		"org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration" })
@Import(ConsoleApplication.JobConfiguration.class)
class ConsoleApplication {

	/** For a process of its own. */
	public static void main(String[] arguments) {
		new SpringApplicationBuilder(ConsoleApplication.class).run(arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class JobConfiguration {

		@Bean
		Jobs jobs(@Value("${statements.work:0}") long work) {
			return new Jobs(work);
		}

	}

	/** Public for a proxy of another class loader. */
	public static class Jobs {

		private final long work;

		Jobs(long work) {
			this.work = work;
		}

		@Scheduled(cron = "*/2 * * * * *")
		@DistributedLock(name = "archive")
		@JobPolicy(shards = 3)
		public void archive() {
			if (JobRun.current().orElseThrow().shard() == 2) {
				throw new IllegalStateException("The archive is full");
			}
		}

		@Scheduled(cron = "0 0 2 29 2 *", zone = "GMT+2")
		@Scheduled(cron = "0 0 2 29 2 *", zone = "America/New_York")
		@DistributedLock(name = "closing")
		public void closing() {
		}

		@Scheduled(cron = "0 0 2 29 2 *", zone = "Asia/Tokyo")
		@DistributedLock(name = "leap-day")
		public void leapDay() {
		}

		@Scheduled(fixedRate = 2000)
		@DistributedLock(name = "payments")
		public void payments() {
			throw new IllegalStateException("The bank <b>does not</b> answer");
		}

		@Scheduled(cron = "*/2 * * * * *")
		@DistributedLock(name = "reminders")
		public void reminders() {
		}

		@Scheduled(cron = "*/2 * * * * *")
		@DistributedLock(name = "statements")
		@JobPolicy(whenCrashed = JobPolicy.WhenCrashed.RERUN)
		public void statements() throws InterruptedException {
			Thread.sleep(this.work);
		}

	}

}
