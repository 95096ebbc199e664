package dev.dblock.peers;

import java.util.Map;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobRun;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * dblock: the starter, with all defaults.
 */
final class DblockPeer {

	private DblockPeer() {
	}

	static void start(Recorder recorder, String mongodb) {
		SpringApplication application = new SpringApplication(Configuration.class);
		application.addInitializers((ApplicationContextInitializer<GenericApplicationContext>) (context) -> context
			.registerBean(Recorder.class, () -> recorder));
		application.setDefaultProperties(Map.of("spring.mongodb.uri", mongodb, "spring.task.scheduling.pool.size", "4",
				"spring.main.banner-mode", "off", "spring.main.log-startup-info", "false", "logging.config",
				"classpath:logback.xml", "spring.autoconfigure.exclude",
				"org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration,"
						+ "org.springframework.boot.quartz.autoconfigure.QuartzAutoConfiguration"));
		application.run();
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Configuration {

		@Bean
		Jobs jobs(Recorder recorder) {
			return new Jobs(recorder);
		}

	}

	static class Jobs {

		private final Recorder recorder;

		Jobs(Recorder recorder) {
			this.recorder = recorder;
		}

		@Scheduled(cron = Schedules.EVERY_FIVE_SECONDS)
		@DistributedLock(name = Schedules.FIVE)
		public void five() {
			run(Schedules.FIVE);
		}

		@Scheduled(cron = Schedules.EVERY_SECOND)
		@DistributedLock(name = Schedules.ONE)
		public void one() {
			run(Schedules.ONE);
		}

		private void run(String job) {
			this.recorder.run(Peers.DBLOCK, job, JobRun.current().orElseThrow().plannedAt().toEpochMilli());
		}

	}

}
