package dev.dblock.scenario;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two applications, started as users start them, that compete for annotated methods.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class CompetingApplicationsTests {

	/**
	 * Far more than a release needs to be heard of, far less than the lease.
	 */
	private static final Duration AT_ONCE = Duration.ofMinutes(1);

	private final CountDownLatch end = new CountDownLatch(1);

	private Instances instances;

	private ConfigurableApplicationContext first;

	private ConfigurableApplicationContext second;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.first = this.instances.startApplication("first", JobConfiguration.class);
		this.second = this.instances.startApplication("second", JobConfiguration.class);
	}

	@AfterEach
	void stop() throws Exception {
		this.end.countDown();
		this.instances.close();
	}

	private static Job job(ConfigurableApplicationContext application) {
		return application.getBean(Job.class);
	}

	/**
	 * Let an application hold the lock until the end is signalled.
	 */
	private Work<Long> hold(ConfigurableApplicationContext application) throws InterruptedException {
		CountDownLatch started = new CountDownLatch(1);
		Work<Long> holder = Work.start(() -> job(application).patient(started, this.end));
		assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
		return holder;
	}

	@Test
	void waiterOfTheOtherApplicationContinuesAsSoonAsTheHolderIsDone() throws Exception {
		Work<Long> holder = hold(this.first);
		Work<Long> waiter = Work.start(() -> job(this.second).patient(new CountDownLatch(1), this.end));
		waiter.awaitWaiting();
		assertThat(this.instances.document("job")).containsEntry("acquirer", "first");
		long ended = System.nanoTime();
		this.end.countDown();
		assertThat(waiter.result()).isGreaterThan(holder.result());
		assertThat(Duration.ofNanos(System.nanoTime() - ended)).isLessThan(AT_ONCE);
		assertThat(this.instances.document("job")).containsEntry("acquirer", "second")
			.containsEntry("why", Job.class.getName() + "#patient");
	}

	@Test
	void waitEndsAfterItsSecondsAndReportsTheHolder() throws Exception {
		hold(this.first);
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> job(this.second).impatient())
			.withMessageContaining("'job'")
			.withMessageContaining("held by first")
			.satisfies((ex) -> assertThat(ex.holder().acquirer()).isEqualTo("first"));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofSeconds(3), AT_ONCE);
	}

	@Test
	void interruptEndsTheWait() throws Exception {
		hold(this.first);
		Document held = this.instances.document("job");
		Work<Long> waiter = Work.start(() -> {
			try {
				return job(this.second).patient(new CountDownLatch(1), this.end);
			}
			finally {
				assertThat(Thread.currentThread().isInterrupted()).as("still interrupted").isTrue();
			}
		});
		waiter.awaitWaiting();
		waiter.interrupt();
		assertThat(waiter.failure()).isInstanceOf(LockInterruptedException.class).hasMessageContaining("'job'");
		assertThat(this.instances.document("job")).containsEntry("holder", held.get("holder"));
		this.end.countDown();
		Instances.eventually().until(() -> this.instances.isReleased("job"));
		assertThat(job(this.second).impatient()).isPositive();
	}

	/**
	 * The order in which SIGTERM shuts an application down: waiters are refused, and work
	 * may finish within the time limits of the executors.
	 */
	@Test
	void applicationThatEndsRefusesItsWaitersAndLetsItsHolderFinish() throws Exception {
		CountDownLatch started = new CountDownLatch(1);
		Future<Long> holder = this.first.getBean(ThreadPoolTaskExecutor.class)
			.submit(() -> job(this.first).patient(started, this.end));
		assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
		Work<Long> refused = Work.start(() -> job(this.first).patient(new CountDownLatch(1), this.end));
		Work<Long> successor = Work.start(() -> job(this.second).patient(new CountDownLatch(1), this.end));
		refused.awaitWaiting();
		successor.awaitWaiting();
		Work<Boolean> shutdown = Work.start(() -> this.first.close());
		assertThat(refused.failure()).isInstanceOf(LockShutdownException.class).hasMessageContaining("'job'");
		assertThat(holder).isNotDone();
		assertThat(shutdown.isDone()).isFalse();
		assertThat(successor.isDone()).isFalse();
		assertThat(this.instances.document("job")).containsEntry("acquirer", "first").containsKey("holder");
		long ended = System.nanoTime();
		this.end.countDown();
		assertThat(successor.result()).isGreaterThan(holder.get(60, TimeUnit.SECONDS));
		assertThat(Duration.ofNanos(System.nanoTime() - ended)).isLessThan(AT_ONCE);
		assertThat(shutdown.result()).isTrue();
	}

	@Test
	void eachApplicationLocksAgainAndAgain() throws Exception {
		this.end.countDown();
		long last = 0;
		for (int i = 0; i < 20; i++) {
			long token = job((i % 2 == 0) ? this.first : this.second).impatient();
			assertThat(token).isGreaterThan(last);
			last = token;
		}
	}

	static class Job {

		@DistributedLock(name = "job", leaseSeconds = 600, waitSeconds = 500)
		public long patient(CountDownLatch started, CountDownLatch end) throws InterruptedException {
			started.countDown();
			end.await();
			return LockContext.current().orElseThrow().token();
		}

		@DistributedLock(name = "job", leaseSeconds = 600, waitSeconds = 3)
		public long impatient() {
			return LockContext.current().orElseThrow().token();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class JobConfiguration {

		@Bean
		Job job() {
			return new Job();
		}

		@Bean
		ThreadPoolTaskExecutor executor() {
			ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
			executor.setWaitForTasksToCompleteOnShutdown(true);
			executor.setAwaitTerminationSeconds(60);
			return executor;
		}

	}

}
