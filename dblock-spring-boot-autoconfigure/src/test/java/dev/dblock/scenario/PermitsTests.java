package dev.dblock.scenario;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import dev.dblock.DistributedLock;
import dev.dblock.LockAssert;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.LossReason;
import dev.dblock.engine.LockEngine;
import dev.dblock.leader.LeaderListener;
import dev.dblock.leader.LeaderTemplate;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locks with several holders, in several instances of an application.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@ExtendWith(OutputCaptureExtension.class)
class PermitsTests {

	private static final LockOptions TWO = LockOptions.defaults().permits(2);

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private ConfigurableApplicationContext application(String name, String... properties) {
		return this.instances.startApplication(name, Application.class, properties);
	}

	@ParameterizedTest
	@ValueSource(strings = { "pipeline", "classic" })
	void atMostAsManyHoldersAsPermits(String dialect) {
		Exports here = application("here", "dblock.mongodb.statements=" + dialect).getBean(Exports.class);
		Exports elsewhere = application("elsewhere", "dblock.mongodb.statements=" + dialect).getBean(Exports.class);
		CompletableFuture<Integer> first = here.export();
		CompletableFuture<Integer> second = elsewhere.export();
		assertThat(List.of(here.permit(), elsewhere.permit())).containsExactlyInAnyOrder(1, 2);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> application("third").getBean(LockTemplate.class).acquire("export", TWO))
			.withMessageContaining("all 2 permits are in use, and the next one to end is held by ");
		here.end();
		assertThat(first).succeedsWithin(Duration.ofMinutes(1));
		assertThat(application("fourth").getBean(LockTemplate.class).tryAcquire("export", TWO)).isPresent();
		elsewhere.end();
		assertThat(second).succeedsWithin(Duration.ofMinutes(1));
	}

	@Test
	void waitingFuturesSequencesAndSeveralLocks() {
		LockTemplate locks = this.instances.start("here").locks();
		LockTemplate elsewhere = this.instances.start("elsewhere").locks();
		LockHandle first = locks.acquire("export", TWO);
		try (LockHandles both = elsewhere.acquireAll(List.of("export", "other"), TWO)) {
			assertThat(both.handles().get("export").permit()).isNotEqualTo(first.permit());
			CompletableFuture<Boolean> waiting = CompletableFuture
				.supplyAsync(() -> elsewhere.execute("export", TWO.waitUpTo(Duration.ofMinutes(1)), () -> {
					LockAssert.assertLocked("export");
					return true;
				}));
			first.close();
			assertThat(waiting).succeedsWithin(Duration.ofMinutes(1));
			assertThat(locks.executeAsync("export", TWO, () -> CompletableFuture.completedFuture(1)))
				.succeedsWithin(Duration.ofMinutes(1));
			assertThat(ReactiveLockTemplate.of(locks)
				.execute("export", TWO, () -> ReactiveLockTemplate.current().map(LockHandle::permit),
						(refusal) -> Mono.error(refusal.toException()))
				.block()).isEqualTo(first.permit());
			locks.asLock("export", TWO).lock();
			assertThat(locks.tryAcquire("export", TWO)).isEmpty();
			locks.asLock("export", TWO).unlock();
		}
	}

	@Test
	void aPlainLockOfTheSameNameIsRefusedWithTheReason() {
		LockTemplate locks = this.instances.start("here").locks();
		LockTemplate elsewhere = this.instances.start("elsewhere").locks();
		locks.acquire("export", TWO).close();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> elsewhere.acquire("export"))
			.withMessageContaining("It has 2 permits elsewhere")
			.withMessageNotContaining("unavailable for another");
		locks.acquire("export", LockOptions.defaults().permits(1)).close();
		assertThat(elsewhere.tryAcquire("export")).isPresent();
	}

	@Test
	void workUnderAPermitDoesNotReenterAsAPlainLock() {
		LockTemplate locks = this.instances.start("here").locks();
		locks.execute("export", TWO, () -> {
			locks.execute("export", TWO, () -> LockAssert.assertLocked("export"));
			assertThatIllegalStateException().isThrownBy(() -> locks.execute("export", () -> "plain"))
				.withMessageContaining("'export'");
		});
	}

	@Test
	void differentNumbersAreReported(CapturedOutput output) {
		this.instances.start("here").locks().acquire("export", TWO).close();
		this.instances.start("elsewhere").locks().acquire("export", LockOptions.defaults().permits(3)).close();
		assertThat(output).contains("WARN").contains("'export'").contains("permits");
	}

	@Test
	void operatorsSetTheNumberAndReleaseOnePermit() {
		ConfigurableApplicationContext here = application("here", "dblock.locks.export.permits=1");
		LockTemplate locks = here.getBean(LockTemplate.class);
		LockHandle only = locks.acquire("export", TWO);
		assertThat(locks.tryAcquire("export", TWO)).isEmpty();
		only.close();
		LockTemplate elsewhere = this.instances.start("elsewhere").locks();
		LockHandle first = elsewhere.acquire("export", TWO);
		LockHandle second = elsewhere.acquire("export", TWO);
		List<LockInfo> permits = here.getBean(LockEngine.class).administration().findPermits("export");
		assertThat(permits).extracting(LockInfo::name).containsExactly("export", "export (permit 2)");
		assertThat(permits).allMatch((permit) -> permit.held() && permit.permits() == 2);
		assertThat(locks.forceReleaseNow("export (permit 2)")).isTrue();
		LockHandle released = (first.permit() == 2) ? first : second;
		LockHandle kept = (first.permit() == 2) ? second : first;
		assertThatExceptionOfType(LockLostException.class).isThrownBy(released::renew);
		kept.renew();
	}

	@Test
	void aLeaderLeadsAloneWhateverOperatorsSet(CapturedOutput output) {
		LockTemplate first = application("first", "dblock.locks.leader.permits=2").getBean(LockTemplate.class);
		LockTemplate second = application("second", "dblock.locks.leader.permits=2").getBean(LockTemplate.class);
		LeaderTemplate leader = new LeaderTemplate(first, "leader", new Silent());
		LeaderTemplate other = new LeaderTemplate(second, "leader", new Silent());
		leader.start();
		Instances.eventually().until(leader::isLeader);
		other.start();
		try {
			Instances.eventually().untilAsserted(() -> assertThat(output).contains("a leader leads alone"));
			assertThat(other.isLeader()).isFalse();
		}
		finally {
			leader.stop();
			other.stop();
		}
	}

	private static final class Silent implements LeaderListener {

		@Override
		public void gained(long token) {
		}

		@Override
		public void lost(LossReason reason) {
		}

	}

	static class Exports {

		private final CountDownLatch end = new CountDownLatch(1);

		private volatile int permit;

		@DistributedLock(name = "export", permits = 2)
		public CompletableFuture<Integer> export() {
			LockAssert.assertLocked("export");
			this.permit = LockContext.current().map(LockHandle::permit).orElseThrow();
			return CompletableFuture.supplyAsync(() -> {
				try {
					this.end.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				return this.permit;
			});
		}

		public int permit() {
			return this.permit;
		}

		public void end() {
			this.end.countDown();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Exports.class)
	static class Application {

	}

}
