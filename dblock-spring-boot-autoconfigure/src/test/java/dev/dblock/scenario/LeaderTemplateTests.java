package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.job.JobFiring;
import dev.dblock.leader.LeaderListener;
import dev.dblock.leader.LeaderTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Leaders of several instances of an application.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@ExtendWith(OutputCaptureExtension.class)
class LeaderTemplateTests {

	private static final String LEASE = "dblock.lease=5s";

	private final List<String> events = new CopyOnWriteArrayList<>();

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private LeaderTemplate candidate(String name) {
		return candidate(new Recorder(name));
	}

	private LeaderTemplate candidate(Recorder listener) {
		LeaderTemplate leader = new LeaderTemplate(this.instances.start(listener.name).locks(), "leader",
				LockOptions.lease(Duration.ofSeconds(5)), listener);
		leader.start();
		return leader;
	}

	private void await(String event) {
		Instances.eventually().untilAsserted(() -> assertThat(this.events).contains(event));
	}

	private static void awaitLeader(LeaderTemplate leader) {
		Instances.eventually().until(leader::isLeader);
	}

	@Test
	void anotherLeadsOnlyWhenTheListenerHasReturned() throws Exception {
		CountDownLatch workEnded = new CountDownLatch(1);
		LeaderTemplate first = candidate(new Recorder("first", workEnded));
		awaitLeader(first);
		long token = first.token().orElseThrow();
		LeaderTemplate second = candidate("second");
		CountDownLatch stopped = new CountDownLatch(1);
		first.stop(stopped::countDown);
		assertThat(first.isLeader()).isFalse();
		// Work of the leader still goes on
		assertThat(stopped.await(1500, TimeUnit.MILLISECONDS)).isFalse();
		assertThat(second.isLeader()).isFalse();
		workEnded.countDown();
		stopped.await();
		awaitLeader(second);
		assertThat(second.token().orElseThrow()).isGreaterThan(token);
		assertThat(this.events).containsExactly("first gained", "first lost RELEASED", "second gained");
		second.stop();
		assertThat(this.events).endsWith("second lost RELEASED");
		assertThat(this.instances.isReleased("leader")).isTrue();
	}

	@Test
	void aLeaderThatStepsDownLetsOthersLeadAndWaitsForThem() {
		LeaderTemplate first = candidate("first");
		awaitLeader(first);
		LeaderTemplate second = candidate("second");
		first.stepDown();
		awaitLeader(second);
		second.stop();
		awaitLeader(first);
		assertThat(this.events).containsExactly("first gained", "first lost RELEASED", "second gained",
				"second lost RELEASED", "first gained");
		first.stepDown();
		assertThat(first.isLeader()).isFalse();
		// No other instance waits
		awaitLeader(first);
		first.stop();
	}

	@Test
	void aLeaderWhoseLockIsTakenIsNotifiedAndLeadsAgain() {
		LeaderTemplate leader = candidate("first");
		awaitLeader(leader);
		long token = leader.token().orElseThrow();
		this.instances.start("operator").locks().forceReleaseNow("leader");
		await("first lost TAKEN_OVER");
		awaitLeader(leader);
		assertThat(leader.token().orElseThrow()).isGreaterThan(token);
		leader.stop();
		assertThat(this.events).containsExactly("first gained", "first lost TAKEN_OVER", "first gained",
				"first lost RELEASED");
	}

	@Test
	void anotherLeadsIfTheListenerFails(CapturedOutput output) {
		LeaderTemplate first = candidate(new Recorder("first") {

			@Override
			public void gained(long token) {
				super.gained(token);
				throw new NoClassDefFoundError("a failure of the listener");
			}

		});
		await("first gained");
		LeaderTemplate second = candidate("second");
		awaitLeader(second);
		first.stop();
		second.stop();
		assertThat(this.events).doesNotContain("first lost RELEASED").contains("second lost RELEASED");
		assertThat(output).contains("ERROR", "The listener of the leader 'leader' failed", "a failure of the listener");
	}

	@Test
	void stoppingEndsAWait() {
		LeaderTemplate first = candidate("first");
		awaitLeader(first);
		LeaderTemplate second = candidate("second");
		Instances.eventually().until(() -> isWaiting());
		second.stop();
		assertThat(second.isRunning()).isFalse();
		assertThat(first.isLeader()).isTrue();
		first.stop();
		first.stop();
		assertThat(this.events).containsExactly("first gained", "first lost RELEASED");
	}

	private static boolean isWaiting() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("dblock-leader-leader"))
			.filter((thread) -> thread.getState() == Thread.State.TIMED_WAITING)
			.count() == 1;
	}

	@Test
	void theListenerItselfCanStopIt() {
		LeaderTemplate[] leader = new LeaderTemplate[1];
		leader[0] = new LeaderTemplate(this.instances.start("first").locks(), "leader", new Recorder("first") {

			@Override
			public void gained(long token) {
				super.gained(token);
				leader[0].stop();
			}

		});
		leader[0].start();
		await("first lost RELEASED");
		Instances.eventually().until(() -> this.instances.isReleased("leader"));
		assertThat(leader[0].isRunning()).isFalse();
	}

	@Test
	void aRestartWaitsForTheListener() {
		CountDownLatch workEnded = new CountDownLatch(1);
		LeaderTemplate first = candidate(new Recorder("first", workEnded));
		awaitLeader(first);
		first.stop(() -> this.events.add("stopped"));
		this.instances.start("operator").locks().forceReleaseNow("leader");
		first.start();
		workEnded.countDown();
		awaitLeader(first);
		first.stop();
		assertThat(first.isRunning()).isFalse();
		assertThat(this.events).containsExactly("first gained", "first lost RELEASED", "stopped", "first gained",
				"first lost RELEASED");
	}

	@Test
	void aListenerThatIsLeftOverFromBeforeARestartCanStopIt() {
		CountDownLatch restarted = new CountDownLatch(1);
		LeaderTemplate[] leader = new LeaderTemplate[1];
		leader[0] = new LeaderTemplate(this.instances.start("first").locks(), "leader", new Recorder("first") {

			@Override
			public void lost(LossReason reason) {
				Instances.eventually().until(() -> restarted.getCount() == 0);
				leader[0].stop();
				super.lost(reason);
			}

		});
		leader[0].start();
		awaitLeader(leader[0]);
		leader[0].stop(() -> this.events.add("stopped"));
		leader[0].start();
		restarted.countDown();
		await("stopped");
		leader[0].stop();
		assertThat(this.events).containsExactly("first gained", "first lost RELEASED", "stopped");
	}

	@Test
	void aLossDoesNotInterruptTheListener() {
		LeaderTemplate leader = new LeaderTemplate(this.instances.start("first").locks(), "leader",
				LockOptions.lease(Duration.ofSeconds(5)).whenLost(WhenLost.INTERRUPT), new Recorder("first") {

					@Override
					public void lost(LossReason reason) {
						LeaderTemplateTests.this.events.add("interrupted " + Thread.currentThread().isInterrupted());
						super.lost(reason);
					}

				});
		leader.start();
		awaitLeader(leader);
		this.instances.start("operator").locks().forceReleaseNow("leader");
		await("first lost TAKEN_OVER");
		leader.destroy();
		leader.stop();
		assertThat(this.events).startsWith("first gained", "interrupted false", "first lost TAKEN_OVER");
	}

	@Test
	void locksThatAreShutDownAreNotReleasedBeforeTheListenerHasReturned() throws Exception {
		CountDownLatch workEnded = new CountDownLatch(1);
		Instance instance = this.instances.start("first");
		LeaderTemplate leader = new LeaderTemplate(instance.locks(), "leader",
				LockOptions.lease(Duration.ofMinutes(10)), new Recorder("first", workEnded));
		leader.start();
		awaitLeader(leader);
		instance.close();
		await("first lost SHUTDOWN");
		assertThat(leader.isLeader()).isFalse();
		assertThat(this.instances.document("leader")).containsEntry("acquirer", "first").containsKey("holder");
		workEnded.countDown();
		leader.stop();
	}

	@Test
	void itsOptionsAreNotForAPlannedTime() {
		LockOptions planned = LockOptions.defaults().claim(JobFiring.at(Instant.EPOCH));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LeaderTemplate(this.instances.start("first").locks(), "leader", planned,
					new Recorder("first")))
			.withMessageContaining("claim");
	}

	@Test
	void aLeaderHasNoPermits() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LeaderTemplate(this.instances.start("first").locks(), "leader",
					LockOptions.defaults().permits(2), new Recorder("first")))
			.withMessage("The leader 'leader' leads alone, so its options cannot have permits. Remove them");
	}

	@Test
	void aListenerIsNotInterrupted() {
		LeaderTemplate first = candidate(new Recorder("first") {

			@Override
			public void gained(long token) {
				super.gained(token);
				Instances.eventually().until(() -> LeaderTemplateTests.this.events.contains("stopping"));
				assertThat(Thread.currentThread().isInterrupted()).isFalse();
			}

		});
		await("first gained");
		CountDownLatch stopped = new CountDownLatch(1);
		first.stop(stopped::countDown);
		this.events.add("stopping");
		Instances.eventually().until(() -> stopped.getCount() == 0);
		assertThat(this.events).containsExactly("first gained", "stopping", "first lost RELEASED");
	}

	@Test
	void itStopsInTheFirstPhase() {
		LeaderTemplate leader = candidate("first");
		assertThat(leader.getPhase()).isEqualTo(SmartLifecycle.DEFAULT_PHASE);
		leader.stop();
	}

	@Test
	void anotherInstanceLeadsWhenAContextCloses() {
		ConfigurableApplicationContext first = this.instances.startApplication("first", Leading.class, LEASE);
		awaitLeader(first.getBean(LeaderTemplate.class));
		ConfigurableApplicationContext second = this.instances.startApplication("second", Leading.class, LEASE);
		assertThat(second.getBean(LeaderTemplate.class).isLeader()).isFalse();
		first.close();
		assertThat(this.instances.isReleased("leader") || this.instances.document("leader").containsValue("second"))
			.isTrue();
		awaitLeader(second.getBean(LeaderTemplate.class));
		assertThat(this.instances.document("leader")).containsEntry("acquirer", "second");
	}

	@Test
	void anotherInstanceLeadsAfterTheLeaseOfOneThatIsKilled() throws Exception {
		try (AnotherProcess killed = AnotherProcess.start(Leading.class, "--spring.mongodb.uri=" + this.instances.uri(),
				"--dblock.acquirer=killed", "--" + LEASE)) {
			Instances.eventually().until(() -> {
				Document document = this.instances.document("leader");
				return document != null && document.containsKey("holder");
			});
			LeaderTemplate second = this.instances.startApplication("second", Leading.class, LEASE)
				.getBean(LeaderTemplate.class);
			assertThat(second.isLeader()).isFalse();
			killed.kill();
			Document left = this.instances.document("leader");
			awaitLeader(second);
			assertThat(this.instances.instant("leader", "acquiredAt"))
				.isAfterOrEqualTo(left.getDate("expiresAt").toInstant());
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Leading {

		@Bean
		LeaderTemplate leader(LockTemplate locks) {
			return new LeaderTemplate(locks, "leader", new LeaderListener() {

				@Override
				public void gained(long token) {
				}

				@Override
				public void lost(LossReason reason) {
				}

			});
		}

		public static void main(String... args) throws InterruptedException {
			new SpringApplicationBuilder(Leading.class).web(WebApplicationType.NONE).run(args);
			Thread.currentThread().join();
		}

	}

	/**
	 * Records its notifications.
	 */
	private class Recorder implements LeaderListener {

		private final String name;

		private final CountDownLatch workEnded;

		Recorder(String name) {
			this(name, new CountDownLatch(0));
		}

		/**
		 * Create a listener whose work goes on after the instance has lost the lead.
		 */
		Recorder(String name, CountDownLatch workEnded) {
			this.name = name;
			this.workEnded = workEnded;
		}

		@Override
		public void gained(long token) {
			LeaderTemplateTests.this.events.add(this.name + " gained");
		}

		@Override
		public void lost(LossReason reason) {
			LeaderTemplateTests.this.events.add(this.name + " lost " + reason);
			Instances.eventually().until(() -> this.workEnded.getCount() == 0);
		}

	}

}
