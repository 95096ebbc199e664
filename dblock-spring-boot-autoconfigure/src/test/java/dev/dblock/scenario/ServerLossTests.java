package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoNode;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Holders whose server becomes unreachable.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3, fresh = true)
class ServerLossTests {

	/**
	 * Leaves a busy machine some time to notify, beside the possible difference of the
	 * clocks.
	 */
	private static final Duration CLOCK_ALLOWANCE = Duration.ofSeconds(10);

	private static final Duration LEASE = Duration.ofSeconds(6);

	private MongoReplicaSet server;

	private ServerTime clock;

	private Instances instances;

	private Instance holder;

	private Instance other;

	@BeforeEach
	void start(MongoReplicaSet server) {
		this.server = server;
		this.clock = ServerTime.sample(server.awaitPrimary());
		this.instances = new Instances(server);
		this.holder = this.instances.start("holder", CLOCK_ALLOWANCE);
		this.other = this.instances.start("other", CLOCK_ALLOWANCE);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	@Test
	void leaseOutlivesThePrimaryAndIsRenewedOnTheNext() throws Exception {
		LockHandle handle = this.holder.locks().acquire("stock", LockOptions.lease(Duration.ofSeconds(30)));
		long token = handle.token();
		String id = this.instances.document("stock").getString("holder");
		// However fast the election is, the first renewal on the next primary fails
		this.server.failCommandOnAllNodes(FailCommand.on("update").times(1).closeConnection().forApplication("holder"));
		MongoNode killed = this.server.killPrimary();
		Instant killedAt = this.clock.latest(System.nanoTime());
		Work<MongoNode> elected = Work.start(() -> this.server.awaitPrimary());
		Instances.eventually().until(() -> {
			assertThat(handle.isHeld()).isTrue();
			assertNotGrantedToTheOther();
			return this.instances.instant("stock", "updatedAt").isAfter(killedAt);
		});
		assertThat(elected.result().address()).isNotEqualTo(killed.address());
		assertThat(this.holder.losses().all()).isEmpty();
		assertThat(handle.token()).isEqualTo(token);
		assertThat(this.instances.document("stock")).containsEntry("holder", id).containsEntry("token", token + 1023);
		assertThat(this.other.locks().tryAcquire("stock")).isEmpty();
		assertThat(handle.release()).isTrue();
		assertThat(this.other.locks().acquire("stock").token()).isGreaterThan(token + 1023);
	}

	private void assertNotGrantedToTheOther() {
		try {
			assertThat(this.other.locks().tryAcquire("stock")).isEmpty();
		}
		catch (DataAccessException ex) {
			assertThat(ex).hasMessageContaining("'stock'");
		}
	}

	@ParameterizedTest
	@EnumSource
	void holderLearnsOfTheLossBeforeTheServerWouldGrantAnother(Outage outage) throws Exception {
		Job job = new Job();
		Work<Boolean> work = Work.start(() -> this.holder.locks()
			.execute("stock", LockOptions.lease(LEASE).whenLost(WhenLost.INTERRUPT), job::run));
		LockHandle handle = job.handle.get(60, TimeUnit.SECONDS);
		Work<Long> belief = Work.start(() -> lastBelief(handle));
		Work<LockHandle> rival = Work.start(() -> this.other.locks()
			.acquire("stock", LockOptions.lease(Duration.ofSeconds(30)).waitUpTo(Duration.ofMinutes(5))));
		Instant granted = this.instances.instant("stock", "acquiredAt");
		// Right after a renewal, so that there is none between this look and the outage
		Instances.eventually().until(() -> this.instances.instant("stock", "updatedAt").isAfter(granted));
		Instant free = this.instances.instant("stock", "expiresAt");
		this.server.nodes().forEach(outage.begin);
		Instant noticed;
		try {
			noticed = assertNotified(handle, work, job, belief.result(), free);
		}
		finally {
			// No client can be closed before
			this.server.nodes().forEach(outage.end);
		}
		this.server.awaitPrimary();
		LockHandle next = rival.result();
		assertThat(this.instances.instant("stock", "acquiredAt")).isAfter(noticed);
		assertThat(next.token()).isGreaterThan(handle.token());
	}

	/**
	 * Assert that all are notified before the server would grant another.
	 * @return when the last of them was notified, at most
	 */
	private Instant assertNotified(LockHandle handle, Work<Boolean> work, Job job, long belief, Instant free)
			throws Exception {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> {
			throw work.failure();
		}).satisfies((lost) -> {
			assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
			assertThat(lost.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class);
		});
		Instant thrown = this.clock.latest(System.nanoTime());
		Instant interrupted = this.clock.latest(job.interrupted.get(60, TimeUnit.SECONDS));
		Instant calledBack = this.clock.latest(job.calledBack.get(60, TimeUnit.SECONDS));
		Instances.eventually().until(() -> this.holder.losses().of("stock").isPresent());
		Instant listenerNotified = this.clock.latest(this.holder.losses().all().get(0).noticedNanos());
		assertThat(handle.isHeld()).isFalse();
		assertThat(belief - lastProofNanos()).as("from the last grant or renewal to the last belief of the handle")
			.isLessThan(LEASE.toNanos());
		assertThat(this.clock.earliest(belief)).as("the last belief of the handle").isBefore(free);
		assertThat(thrown).as("the exception").isBefore(free);
		assertThat(interrupted).as("the interrupt").isBefore(free);
		assertThat(calledBack).as("the callback").isBefore(free);
		assertThat(listenerNotified).as("the listener").isBefore(free);
		return thrown.isAfter(listenerNotified) ? thrown : listenerNotified;
	}

	// A renewal may have been applied without an answer, which proves nothing
	private long lastProofNanos() {
		return Math.max(this.holder.commands().lastDoneNanos("findAndModify"),
				this.holder.commands().lastDoneNanos("update"));
	}

	/**
	 * The last moment in which the handle said that the lock is held, or earlier.
	 */
	private static long lastBelief(LockHandle handle) {
		long last = System.nanoTime();
		for (long asked = last; handle.isHeld(); asked = System.nanoTime()) {
			last = asked;
			LockSupport.parkNanos(1_000_000);
		}
		return last;
	}

	/**
	 * How all servers become unreachable.
	 */
	enum Outage {

		/**
		 * Connections stay open, and nothing answers.
		 */
		PAUSED(MongoNode::pause, MongoNode::resume),

		/**
		 * Connections are refused.
		 */
		KILLED(MongoNode::kill, MongoNode::restart);

		private final Consumer<MongoNode> begin;

		private final Consumer<MongoNode> end;

		Outage(Consumer<MongoNode> begin, Consumer<MongoNode> end) {
			this.begin = begin;
			this.end = end;
		}

	}

	/**
	 * Work that runs until it is interrupted, and records when it was notified.
	 */
	private static final class Job {

		private final CompletableFuture<LockHandle> handle = new CompletableFuture<>();

		private final CompletableFuture<Long> calledBack = new CompletableFuture<>();

		private final CompletableFuture<Long> interrupted = new CompletableFuture<>();

		boolean run() throws InterruptedException {
			LockHandle handle = LockContext.current().orElseThrow();
			handle.onLost((reason) -> this.calledBack.complete(System.nanoTime()));
			this.handle.complete(handle);
			try {
				return new CountDownLatch(1).await(5, TimeUnit.MINUTES);
			}
			catch (InterruptedException ex) {
				this.interrupted.complete(System.nanoTime());
				throw ex;
			}
		}

	}

}
