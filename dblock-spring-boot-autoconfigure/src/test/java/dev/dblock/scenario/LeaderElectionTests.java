package dev.dblock.scenario;

import com.mongodb.client.MongoClient;
import dev.dblock.LockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spring Integration's leader election on the registry that the auto-configuration
 * brings.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class LeaderElectionTests {

	private static final String LOCK = "integration:leader";

	private static final String LEASE = "dblock.lease=10s";

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private ConfigurableApplicationContext candidate(String name) {
		return this.instances.startApplication(name, Leading.class, LEASE);
	}

	private static boolean leads(ConfigurableApplicationContext candidate) {
		return candidate.getBean(LockRegistryLeaderInitiator.class).getContext().isLeader();
	}

	private static void awaitLeader(ConfigurableApplicationContext candidate) {
		Instances.eventually().until(() -> leads(candidate));
	}

	@Test
	void leadershipPassesOnWhenTheLeaderStops() {
		ConfigurableApplicationContext first = candidate("first");
		awaitLeader(first);
		ConfigurableApplicationContext second = candidate("second");
		long token = this.instances.document(LOCK).getLong("token");
		assertThat(leads(second)).isFalse();
		first.getBean(LockRegistryLeaderInitiator.class).stop();
		awaitLeader(second);
		assertThat(leads(first)).isFalse();
		assertThat(this.instances.document(LOCK)).containsEntry("acquirer", "second")
			.doesNotContainEntry("fencePending", true);
		assertThat(this.instances.document(LOCK).getLong("token")).isGreaterThan(token);
	}

	@Test
	void leadershipCanBeYielded() {
		ConfigurableApplicationContext first = candidate("first");
		awaitLeader(first);
		ConfigurableApplicationContext second = candidate("second");
		first.getBean(LockRegistryLeaderInitiator.class).setBusyWaitMillis(60_000);
		first.getBean(LockRegistryLeaderInitiator.class).getContext().yield();
		awaitLeader(second);
		assertThat(leads(first)).isFalse();
	}

	/**
	 * The leader's context has lost its connections for good, so nothing of it can be
	 * released or renewed.
	 */
	@Test
	void anotherLeadsAfterTheLeaseOfALeaderThatIsCutOff() {
		ConfigurableApplicationContext first = candidate("first");
		awaitLeader(first);
		ConfigurableApplicationContext second = candidate("second");
		first.getBean(MongoClient.class).close();
		Document left = this.instances.document(LOCK);
		assertThat(left).containsEntry("acquirer", "first").containsKey("holder");
		awaitLeader(second);
		Instances.eventually().until(() -> !leads(first));
		assertThat(this.instances.instant(LOCK, "acquiredAt")).isAfterOrEqualTo(left.getDate("expiresAt").toInstant());
	}

	/**
	 * An operator releases the lock by force, and the leader leads again as soon as it is
	 * free.
	 */
	@Test
	void aLeaderThatWasDeposedCanBeElectedAgain() {
		ConfigurableApplicationContext first = candidate("first");
		awaitLeader(first);
		for (int i = 0; i < 3; i++) {
			long token = this.instances.document(LOCK).getLong("token");
			first.getBean(LockTemplate.class).forceReleaseNow(LOCK);
			Instances.eventually().until(() -> leads(first) && this.instances.document(LOCK).getLong("token") > token);
		}
	}

	@Test
	void anotherLeadsAfterTheLeaseOfALeaderThatIsKilled() throws Exception {
		try (AnotherProcess killed = AnotherProcess.start(Leading.class, "--spring.mongodb.uri=" + this.instances.uri(),
				"--dblock.acquirer=killed", "--" + LEASE)) {
			Instances.eventually().until(() -> {
				Document document = this.instances.document(LOCK);
				return document != null && document.containsKey("holder");
			});
			ConfigurableApplicationContext second = candidate("second");
			assertThat(leads(second)).isFalse();
			killed.kill();
			Document left = this.instances.document(LOCK);
			assertThat(left).containsEntry("acquirer", "killed").containsKey("holder");
			awaitLeader(second);
			assertThat(this.instances.instant(LOCK, "acquiredAt"))
				.isAfterOrEqualTo(left.getDate("expiresAt").toInstant());
			assertThat(this.instances.document(LOCK)).containsEntry("acquirer", "second");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Leading {

		@Bean
		LockRegistryLeaderInitiator leaderInitiator(LockRegistry<?> locks) {
			LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(locks, new Candidate());
			initiator.setHeartBeatMillis(100);
			initiator.setBusyWaitMillis(10);
			return initiator;
		}

		public static void main(String... args) throws InterruptedException {
			new SpringApplicationBuilder(Leading.class).web(WebApplicationType.NONE).run(args);
			Thread.currentThread().join();
		}

	}

	private static final class Candidate extends DefaultCandidate {

		Candidate() {
			super("candidate", "leader");
		}

		@Override
		public void onGranted(Context context) {
			// No word in the log
		}

		@Override
		public void onRevoked(Context context) {
			// No word in the log
		}

	}

}
