package dev.dblock.peers;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * ShedLock on MongoDB, without and with {@code lockAtLeastFor}.
 */
final class ShedLockPeer {

	private ShedLockPeer() {
	}

	@SuppressWarnings("resource")
	static void start(Recorder recorder, String mongodb) {
		MongoClient client = MongoClients.create(mongodb);
		start(recorder, new MongoLockProvider(client.getDatabase("shedlock")), Jobs.class);
		start(recorder, new MongoLockProvider(client.getDatabase("shedlock-at-least")), JobsAtLeast.class);
	}

	private static void start(Recorder recorder, LockProvider provider, Class<?> jobs) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean(Recorder.class, () -> recorder);
		context.registerBean(LockProvider.class, () -> provider);
		context.register(Scheduling.class, jobs);
		context.refresh();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableSchedulerLock(defaultLockAtMostFor = "PT30S")
	static class Scheduling {

		@Bean
		ThreadPoolTaskScheduler taskScheduler() {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setPoolSize(4);
			return scheduler;
		}

	}

	static class Jobs {

		private final Recorder recorder;

		Jobs(Recorder recorder) {
			this.recorder = recorder;
		}

		@Scheduled(cron = Schedules.EVERY_FIVE_SECONDS)
		@SchedulerLock(name = Schedules.FIVE)
		public void five() {
			this.recorder.runByOwnClock(Peers.SHEDLOCK, Schedules.FIVE);
		}

		@Scheduled(cron = Schedules.EVERY_SECOND)
		@SchedulerLock(name = Schedules.ONE)
		public void one() {
			this.recorder.runByOwnClock(Peers.SHEDLOCK, Schedules.ONE);
		}

	}

	static class JobsAtLeast {

		private final Recorder recorder;

		JobsAtLeast(Recorder recorder) {
			this.recorder = recorder;
		}

		@Scheduled(cron = Schedules.EVERY_FIVE_SECONDS)
		@SchedulerLock(name = Schedules.FIVE, lockAtLeastFor = "PT4.5S")
		public void five() {
			this.recorder.runByOwnClock(Peers.SHEDLOCK_AT_LEAST, Schedules.FIVE);
		}

		@Scheduled(cron = Schedules.EVERY_SECOND)
		@SchedulerLock(name = Schedules.ONE, lockAtLeastFor = "PT0.9S")
		public void one() {
			this.recorder.runByOwnClock(Peers.SHEDLOCK_AT_LEAST, Schedules.ONE);
		}

	}

}
