package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A holder whose process stands still for longer than its lease, and then goes on.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "No signal stops a process there")
class PausedHolderTests {

	private static final Duration LEASE = Duration.ofSeconds(9);

	/**
	 * A new JVM on a busy machine may need more than one request for its first lock.
	 */
	private static final LockOptions PATIENTLY = LockOptions.lease(LEASE).waitUpTo(Duration.ofMinutes(2));

	@Test
	void waiterGetsInAtTheEndOfTheLeaseAndTheHolderIsToldWhenItGoesOn(MongoServer server) throws Exception {
		try (Instances instances = new Instances(server)) {
			Instance other = instances.start("other");
			try (AnotherProcess holder = AnotherProcess.start(Holder.class, instances.uri(),
					instances.documents().getNamespace().getDatabaseName())) {
				long token = Long.parseLong(holder.await("token"));
				Instant granted = instances.instant("stock", "acquiredAt");
				Instances.eventually().until(() -> instances.instant("stock", "updatedAt").isAfter(granted));
				Work<LockHandle> waiter = Work.start(
						() -> other.locks().acquire("stock", LockOptions.defaults().waitUpTo(Duration.ofMinutes(2))));
				waiter.awaitWaiting();
				other.awaitToldOfReleases();
				holder.pause();
				Document left = instances.document("stock");
				assertThat(left).containsEntry("acquirer", "paused");
				LockHandle next = waiter.result();
				assertThat(next.token()).isGreaterThan(token);
				other.assertWokenAtTheEndOfALease();
				Document taken = instances.document("stock");
				assertThat(taken.getDate("acquiredAt")).isAfterOrEqualTo(left.getDate("expiresAt"));
				holder.goOn();
				assertThat(holder.await("lost")).isEqualTo("held: false, released: false");
				assertThat(instances.document("stock")).containsEntry("holder", taken.get("holder"));
				assertThat(next.release()).isTrue();
			}
		}
	}

	static final class Holder {

		private Holder() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			try (Instance instance = new Instance("paused", arguments[0], arguments[1], Duration.ofMillis(500));
					LockHandle handle = instance.locks().acquire("stock", PATIENTLY)) {
				CountDownLatch lost = new CountDownLatch(1);
				handle.onLost(lost::countDown);
				System.out.println("token " + handle.token());
				lost.await();
				System.out.println("lost held: " + handle.isHeld() + ", released: " + handle.release());
				new CountDownLatch(1).await();
			}
		}

	}

}
