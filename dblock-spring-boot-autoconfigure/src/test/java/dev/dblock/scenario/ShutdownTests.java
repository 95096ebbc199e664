package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineState;
import dev.dblock.engine.LockEngine;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import dev.dblock.testing.Stubborn;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications that end, stop and start again while locks are held, waited for and asked
 * for.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class ShutdownTests {

	private static final Duration LEASE = Duration.ofSeconds(12);

	private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

	private static final String SHORT_PHASES = "spring.lifecycle.timeout-per-shutdown-phase=100ms";

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(Duration.ofMinutes(2));

	private static final LockOptions UNENDING = LockOptions.lease(Duration.ofMinutes(5));

	private MongoServer server;

	private Instances instances;

	private Instance other;

	@BeforeEach
	void start(MongoServer server) {
		this.server = server;
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
	}

	@AfterEach
	void stop() throws Exception {
		this.server.clearFailPoints();
		this.instances.close();
	}

	private ConfigurableApplicationContext startApplication(Class<?> configuration, String... properties) {
		ConfigurableApplicationContext application = this.instances.startApplication("ending", configuration,
				StringUtils.addStringToArray(properties, "dblock.lease=" + LEASE.toMillis() + "ms"));
		locks(application).acquire("first of ending").release();
		return application;
	}

	private static LockTemplate locks(ConfigurableApplicationContext application) {
		return application.getBean(LockTemplate.class);
	}

	private void awaitRenewals(int count) {
		for (int i = 0; i < count; i++) {
			Instant before = this.instances.instant("job", "updatedAt");
			Instances.eventually().until(() -> this.instances.instant("job", "updatedAt").isAfter(before));
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { ScheduledConfiguration.class, ExecutedConfiguration.class })
	void taskThatAnExecutorOutlivesAllPhasesForKeepsItsLockUntilItCompletes(Class<?> configuration) throws Exception {
		ConfigurableApplicationContext application = startApplication(configuration, SHORT_PHASES,
				"spring.task.scheduling.shutdown.await-termination=true",
				"spring.task.scheduling.shutdown.await-termination-period=300s",
				"spring.task.execution.shutdown.await-termination=true",
				"spring.task.execution.shutdown.await-termination-period=300s");
		Job job = application.getBean(Job.class);
		LockHandle handle = job.handle.get(60, TimeUnit.SECONDS);
		CountDownLatch closing = new CountDownLatch(1);
		application.addApplicationListener((ContextClosedEvent event) -> closing.countDown());
		Work<Boolean> shutdown = Work.start(application::close);
		assertThat(closing.await(60, TimeUnit.SECONDS)).isTrue();
		awaitRenewals(2);
		assertThat(shutdown.isDone()).isFalse();
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.other.locks().tryAcquire("job")).isEmpty();
		job.end.countDown();
		shutdown.result();
		assertThat(job.outcome.get(60, TimeUnit.SECONDS)).isEqualTo("held to the end");
		assertThat(this.instances.isReleased("job")).isTrue();
		assertThat(job.losses.all()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(classes = { ScheduledConfiguration.class, ExecutedConfiguration.class })
	void taskThatOutlivesEveryGracePeriodLearnsOfTheLossAndItsLeaseEndsTheLock(Class<?> configuration)
			throws Exception {
		ConfigurableApplicationContext application = startApplication(configuration, SHORT_PHASES);
		Job job = application.getBean(Job.class);
		LockHandle handle = job.handle.get(60, TimeUnit.SECONDS);
		application.close();
		assertThat(handle.isHeld()).isFalse();
		assertThat(job.losses.of("job"))
			.hasValueSatisfying((loss) -> assertThat(loss.reason()).isEqualTo(LossReason.SHUTDOWN));
		Document left = this.instances.document("job");
		assertThat(left).containsKey("holder");
		assertThat(left.get("releasedAt")).isNull();
		LockHandle next = this.other.locks().acquire("job", UNENDING.autoRenew(false).waitUpTo(Duration.ofMinutes(2)));
		Document taken = this.instances.document("job");
		assertThat(taken.getDate("acquiredAt")).as("neither renewed nor released")
			.isAfterOrEqualTo(left.getDate("expiresAt"));
		job.end.countDown();
		assertThat(job.outcome.get(60, TimeUnit.SECONDS)).isEqualTo("lost at the end: SHUTDOWN");
		assertThat(this.instances.document("job")).isEqualTo(taken);
		assertThat(next.release()).isTrue();
	}

	@Test
	void threadThatAskedForItIsInterrupted() throws Exception {
		ConfigurableApplicationContext application = startApplication(QuietConfiguration.class);
		CountDownLatch started = new CountDownLatch(1);
		Work<Boolean> work = Work
			.start(() -> locks(application).execute("job", LockOptions.defaults().whenLost(WhenLost.INTERRUPT), () -> {
				started.countDown();
				return new CountDownLatch(1).await(5, TimeUnit.MINUTES);
			}));
		assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
		application.close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> {
			throw work.failure();
		}).satisfies((lost) -> {
			assertThat(lost.reason()).isEqualTo(LossReason.SHUTDOWN);
			assertThat(lost.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class);
		});
	}

	/**
	 * Another listener of the shutdown may wait for threads that wait for a lock.
	 */
	@Test
	void waitersAreRefusedBeforeOtherBeansLearnOfTheShutdown() throws Exception {
		ConfigurableApplicationContext application = startApplication(ListeningConfiguration.class);
		LockHandle taken = this.other.locks().acquire("job");
		ListeningConfiguration listening = application.getBean(ListeningConfiguration.class);
		Work<LockHandle> waiter = Work.start(() -> locks(application).acquire("job", PATIENT));
		listening.waiter = waiter;
		waiter.awaitWaiting();
		application.close();
		assertThat(listening.failure).isInstanceOf(LockShutdownException.class).hasMessageContaining("'job'");
		assertThat(taken.release()).isTrue();
	}

	@Test
	void requestThatIsUnderWayEndsBeforeTheClientCloses() throws Exception {
		ConfigurableApplicationContext application = startApplication(QuietConfiguration.class);
		LockHandle released = locks(application).acquire("released", UNENDING);
		SentCommands commands = application.getBean(SentCommands.class);
		long updates = commands.count("update");
		long acquires = commands.count("findAndModify");
		this.server.failCommand(FailCommand.on("findAndModify", "update")
			.times(2)
			.blockFor(Duration.ofSeconds(2))
			.forApplication("ending"));
		Work<Boolean> release = Work.start(() -> {
			released.release();
		});
		Work<LockHandle> acquire = Work.start(() -> locks(application).acquire("acquired", UNENDING));
		Instances.eventually()
			.until(() -> commands.count("update") > updates && commands.count("findAndModify") > acquires);
		application.close();
		assertThat(this.instances.isReleased("released")).isTrue();
		assertThat(this.instances.isReleased("acquired")).isTrue();
		assertThat(release.result()).isTrue();
		assertThat(acquire.failure()).isInstanceOf(LockShutdownException.class);
	}

	@Test
	void nothingIsSentAfterwards() throws Exception {
		ConfigurableApplicationContext application = startApplication(QuietConfiguration.class);
		LockHandle handle = locks(application).acquire("job");
		awaitRenewals(1);
		SentCommands commands = application.getBean(SentCommands.class);
		LockTemplate locks = locks(application);
		application.close();
		Document left = this.instances.document("job");
		long sent = commands.to(Instance.COLLECTION).size();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew)
			.extracting(LockLostException::reason)
			.isEqualTo(LossReason.SHUTDOWN);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> handle.extend(LEASE));
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> locks.acquire("more"));
		assertThat(handle.release()).isFalse();
		this.other.locks().acquire("job", PATIENT).release();
		assertThat(commands.to(Instance.COLLECTION)).hasSize((int) sent);
		assertThat(left).containsKey("holder");
	}

	/**
	 * A client that was closed would never send anything.
	 */
	@Test
	void nothingIsRenewedAfterwardsThoughTheClientStaysOpen() {
		ConfigurableApplicationContext application = startApplication(OutlivedConfiguration.class);
		SentCommands commands = application.getBean(SentCommands.class);
		try (MongoClient client = application.getBean(MongoClient.class)) {
			LockHandle handle = locks(application).acquire("job", LockOptions.lease(SHORT_LEASE));
			application.close();
			Document left = this.instances.document("job");
			int sent = commands.to(Instance.COLLECTION).size();
			Instances.eventually()
				.during(SHORT_LEASE.multipliedBy(2))
				.until(() -> this.instances.document("job").equals(left)
						&& commands.to(Instance.COLLECTION).size() == sent);
			assertThat(handle.isHeld()).isFalse();
			assertThat(client.listDatabaseNames()).as("what the client can still ask").isNotEmpty();
		}
	}

	@Test
	void childThatClosesLeavesTheLocksOfItsParentAlone() throws Exception {
		ConfigurableApplicationContext parent = startApplication(QuietConfiguration.class);
		GenericApplicationContext child = new GenericApplicationContext(parent);
		child.refresh();
		LockHandle handle = locks(parent).acquire("job");
		LockHandle taken = this.other.locks().acquire("wanted");
		Work<LockHandle> waiter = Work.start(() -> locks(parent).acquire("wanted", PATIENT));
		waiter.awaitWaiting();
		child.close();
		awaitRenewals(1);
		assertThat(waiter.isDone()).isFalse();
		taken.release();
		assertThat(waiter.result().release()).isTrue();
		assertThat(handle.isHeld()).isTrue();
		parent.close();
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void contextsThatShareAnEngineEndWithTheirParent() throws Exception {
		ConfigurableApplicationContext parent = startApplication(QuietConfiguration.class, SHORT_PHASES);
		ConfigurableApplicationContext child = this.instances.startChild(parent, AwaitingChildConfiguration.class);
		assertThat(locks(child)).isSameAs(locks(parent));
		Job job = child.getBean(Job.class);
		ChildConfiguration.executor(child).execute(job::run);
		LockHandle handle = job.handle.get(60, TimeUnit.SECONDS);
		LockHandle taken = this.other.locks().acquire("wanted");
		CompletableFuture<Boolean> waiter = waiterOf(child, parent);
		SentCommands commands = parent.getBean(SentCommands.class);
		Work<Boolean> shutdown = Work.start(parent::close);
		assertThat(waiter).failsWithin(Duration.ofMinutes(1))
			.withThrowableThat()
			.withCauseInstanceOf(LockShutdownException.class);
		awaitRenewals(2);
		assertThat(shutdown.isDone()).isFalse();
		assertThat(handle.isHeld()).isTrue();
		job.end.countDown();
		shutdown.result();
		assertThat(child.isActive()).isFalse();
		assertThat(job.outcome.get(60, TimeUnit.SECONDS)).isEqualTo("held to the end");
		assertThat(job.losses.all()).isEmpty();
		assertThat(this.instances.isReleased("job")).isTrue();
		int sent = commands.to(Instance.COLLECTION).size();
		this.other.locks().acquire("job").release();
		assertThat(taken.release()).isTrue();
		assertThat(commands.to(Instance.COLLECTION)).hasSize(sent);
	}

	@Test
	void waiterOfAChildThatClosesContinuesWhileItsExecutorAwaitsIt() throws Exception {
		ConfigurableApplicationContext parent = startApplication(QuietConfiguration.class, SHORT_PHASES);
		ConfigurableApplicationContext child = this.instances.startChild(parent, AwaitingChildConfiguration.class);
		LockHandle taken = this.other.locks().acquire("wanted");
		CompletableFuture<Boolean> waiter = waiterOf(child, parent);
		CountDownLatch closing = new CountDownLatch(1);
		parent.addApplicationListener((ContextClosedEvent event) -> closing.countDown());
		Work<Boolean> shutdown = Work.start(child::close);
		assertThat(closing.await(60, TimeUnit.SECONDS)).isTrue();
		assertThat(waiter).isNotDone();
		assertThat(shutdown.isDone()).isFalse();
		assertThat(taken.release()).isTrue();
		assertThat(waiter).succeedsWithin(Duration.ofMinutes(1));
		shutdown.result();
		assertThat(this.instances.isReleased("wanted")).isTrue();
		assertThat(locks(parent).acquire("wanted").release()).isTrue();
	}

	@Test
	void waiterOfAChildThatClosesIsInterruptedByAnExecutorThatDoesNotAwaitIt() {
		ConfigurableApplicationContext parent = startApplication(QuietConfiguration.class, SHORT_PHASES);
		ConfigurableApplicationContext child = this.instances.startChild(parent, ChildConfiguration.class);
		LockHandle taken = this.other.locks().acquire("wanted");
		CompletableFuture<Boolean> waiter = waiterOf(child, parent);
		child.close();
		assertThat(waiter).failsWithin(Duration.ofMinutes(1))
			.withThrowableThat()
			.withCauseInstanceOf(LockInterruptedException.class);
		assertThat(state(parent).waiting()).isZero();
		assertThat(taken.release()).isTrue();
		// The interrupted request may still be granted, and is then released. The wait is
		// shorter than a lease, so that it does not outlast a grant that is never
		// released
		LockOptions briefly = LockOptions.defaults().waitUpTo(LEASE.minusSeconds(1));
		assertThat(locks(parent).acquire("wanted", briefly).release()).isTrue();
	}

	private static CompletableFuture<Boolean> waiterOf(ConfigurableApplicationContext child,
			ConfigurableApplicationContext parent) {
		LockTemplate locks = locks(child);
		CompletableFuture<Boolean> waiter = ChildConfiguration.executor(child)
			.submitCompletable(() -> locks.execute("wanted", PATIENT, () -> true));
		Instances.eventually().until(() -> state(parent).waiting() == 1);
		return waiter;
	}

	private static EngineState state(ConfigurableApplicationContext application) {
		return ((DefaultLockEngine) application.getBean(LockEngine.class)).state();
	}

	@Test
	void contextThatIsStoppedAndStartedAgainKeepsItsLocksAndTakesOthers() {
		ConfigurableApplicationContext application = startApplication(QuietConfiguration.class);
		LockHandle handle = locks(application).acquire("job");
		for (int round = 0; round < 2; round++) {
			application.stop();
			assertThat(application.isRunning()).isFalse();
			awaitRenewals(1);
			assertThat(locks(application).acquire("while it is stopped").release()).isTrue();
			application.start();
			assertThat(locks(application).acquire("stock").release()).isTrue();
		}
		application.pause();
		awaitRenewals(1);
		application.restart();
		awaitRenewals(1);
		assertThat(handle.release()).isTrue();
		assertThat(application.getBean(Losses.class).all()).isEmpty();
	}

	/**
	 * Work under a lock, in a task of one executor or another, until it is stopped. An
	 * executor interrupts it when its time limit is up; it ignores that.
	 */
	static class Job {

		final CompletableFuture<LockHandle> handle = new CompletableFuture<>();

		final CountDownLatch end = new CountDownLatch(1);

		final CompletableFuture<String> outcome = new CompletableFuture<>();

		final Losses losses;

		private final LockTemplate locks;

		private final AtomicBoolean begun = new AtomicBoolean();

		Job(LockTemplate locks, Losses losses) {
			this.locks = locks;
			this.losses = losses;
		}

		void run() {
			if (!this.begun.compareAndSet(false, true)) {
				return;
			}
			try {
				this.locks.execute("job", () -> {
					this.handle.complete(LockContext.current().orElseThrow());
					Stubborn.await(this.end);
				});
				this.outcome.complete("held to the end");
			}
			catch (LockLostException ex) {
				this.outcome.complete("lost at the end: " + ex.reason());
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class QuietConfiguration {

		@Bean
		Losses losses() {
			return new Losses();
		}

		@Bean
		SentCommands commands() {
			return new SentCommands();
		}

		@Bean
		MongoClientSettingsBuilderCustomizer watched(SentCommands commands) {
			return (settings) -> settings.applicationName("ending").addCommandListener(commands);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OutlivedConfiguration extends QuietConfiguration {

		@Bean(destroyMethod = "")
		MongoClient client(@Value("${spring.mongodb.uri}") String uri, SentCommands commands) {
			return MongoClients.create(MongoClientSettings.builder()
				.applyConnectionString(new ConnectionString(uri))
				.addCommandListener(commands)
				.build());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class ScheduledConfiguration extends QuietConfiguration {

		@Bean
		Job job(LockTemplate locks, Losses losses) {
			return new Job(locks, losses) {

				@Override
				@Scheduled(fixedDelay = 10)
				void run() {
					super.run();
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ExecutedConfiguration extends QuietConfiguration {

		@Bean
		Job job(LockTemplate locks, Losses losses, AsyncTaskExecutor applicationTaskExecutor) {
			Job job = new Job(locks, losses);
			applicationTaskExecutor.execute(job::run);
			return job;
		}

	}

	/**
	 * Has an executor of its own, and all other beans of its parent.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class ChildConfiguration {

		static ThreadPoolTaskExecutor executor(ConfigurableApplicationContext child) {
			return child.getBean("childExecutor", ThreadPoolTaskExecutor.class);
		}

		@Bean
		ThreadPoolTaskExecutor childExecutor() {
			ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
			executor.setCorePoolSize(2);
			return executor;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AwaitingChildConfiguration extends ChildConfiguration {

		@Override
		@Bean
		ThreadPoolTaskExecutor childExecutor() {
			ThreadPoolTaskExecutor executor = super.childExecutor();
			executor.setWaitForTasksToCompleteOnShutdown(true);
			executor.setAwaitTerminationSeconds(300);
			return executor;
		}

		@Bean
		Job job(LockTemplate locks, Losses losses) {
			return new Job(locks, losses);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ListeningConfiguration extends QuietConfiguration {

		volatile Work<?> waiter;

		volatile Throwable failure;

		@EventListener
		@Order(0)
		void closed(ContextClosedEvent event) throws Exception {
			this.failure = this.waiter.failure();
		}

	}

}
