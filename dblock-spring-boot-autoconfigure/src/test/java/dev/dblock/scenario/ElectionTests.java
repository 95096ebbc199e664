package dev.dblock.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holders and waiters under load while the primary is killed.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3, fresh = true)
class ElectionTests {

	private static final Logger logger = LoggerFactory.getLogger(ElectionTests.class);

	private static final String LIMIT = "dblock.test.after-election-millis";

	/**
	 * Two seconds are promised, on a machine that has time for its tests.
	 */
	private static final Duration AFTER_THE_ELECTION = Duration.ofMillis(Long.getLong(LIMIT, 60_000));

	/**
	 * With the limit, the lease is the shortest for which something is promised.
	 */
	private static final Duration LEASE = Duration.ofSeconds((Long.getLong(LIMIT) != null) ? 10 : 60);

	/**
	 * No lease is lost at an election that is shorter, though it was due for its renewal.
	 */
	private static final Duration LONG_ELECTION = LEASE.dividedBy(2);

	private static final Duration DUE = LEASE.multipliedBy(2).dividedBy(3);

	/**
	 * Shorter than that of the servers of other tests, which alone is half a minute.
	 */
	private static final Duration ELECTION_TIMEOUT = Duration.ofSeconds(2);

	private static final LockOptions PATIENT = LockOptions.lease(LEASE).waitUpTo(Duration.ofMinutes(2));

	@Test
	void renewalsAndAcquisitionsContinueAfterTheElection(MongoReplicaSet server) throws Exception {
		server.awaitPrimary();
		server.awaitAllSecondaries();
		try (Instances instances = new Instances(server)) {
			List<Instance> started = List.of(instances.start("one"), instances.start("two"));
			List<LockHandle> held = new ArrayList<>();
			for (int i = 0; i < 50; i++) {
				held.add(started.get(i % 2).locks().acquire("held-" + i, LockOptions.lease(LEASE)));
			}
			List<Load> loads = IntStream.range(0, 8)
				.mapToObj((i) -> new Load(started.get(i % 2), "contended-" + i / 2))
				.toList();
			long begun = System.nanoTime();
			Instances.eventually().until(() -> loads.stream().allMatch((load) -> load.hasWorkedSince(begun)));
			shortenElections(server);
			Instances.eventually()
				.until(() -> held.get(0).remaining().minus(DUE).compareTo(Duration.ofMillis(500)) < 0);

			server.awaitPrimary();
			server.killPrimary();
			long killed = System.nanoTime();
			server.awaitPrimary();
			long elected = System.nanoTime();
			Duration election = Duration.ofNanos(elected - killed);
			assertThat(election).as("one at which no lease may be lost").isLessThan(LONG_ELECTION);
			Instances.eventually().until(() -> loads.stream().allMatch((load) -> load.hasWorkedSince(elected)));
			Duration acquired = Duration.ofNanos(System.nanoTime() - elected);
			awaitRenewedSince(killed, held.subList(0, 2));
			Duration renewed = Duration.ofNanos(System.nanoTime() - elected);
			logger.info(
					"A primary was elected {} ms after the kill, all waiters had their locks {} ms later, and both instances "
							+ "had renewed what was due after {} ms",
					election.toMillis(), acquired.toMillis(), renewed.toMillis());
			assertThat(acquired).isLessThan(AFTER_THE_ELECTION);
			assertThat(renewed).isLessThan(AFTER_THE_ELECTION);
			awaitRenewedSince(killed, held);
			for (Load load : loads) {
				load.end();
			}
			assertThat(held).allMatch(LockHandle::isHeld);
			started.forEach((instance) -> assertThat(instance.losses().all()).isEmpty());
			assertThat(held).allMatch(LockHandle::release);
		}
	}

	/**
	 * Waits until each lease counts from then or later, or is lost.
	 */
	private static void awaitRenewedSince(long nanos, List<LockHandle> handles) {
		Instances.eventually().until(() -> {
			Duration since = Duration.ofNanos(System.nanoTime() - nanos);
			return handles.stream()
				.allMatch((handle) -> handle.remaining().plus(since).compareTo(LEASE) > 0 || !handle.isHeld());
		});
	}

	private static void shortenElections(MongoReplicaSet server) {
		int version = server.primary().setElectionTimeout(ELECTION_TIMEOUT);
		Instances.eventually()
			.until(() -> server.nodes().stream().allMatch((node) -> node.config().getInteger("version") == version));
	}

	/**
	 * Takes a lock again and again, against another instance.
	 */
	private static final class Load {

		private volatile boolean over;

		private volatile long grantedNanos = System.nanoTime();

		private final Work<Boolean> work;

		Load(Instance instance, String name) {
			this.work = Work.start(() -> {
				while (!this.over) {
					instance.locks().execute(name, PATIENT, () -> {
						this.grantedNanos = System.nanoTime();
					});
				}
			});
		}

		boolean hasWorkedSince(long nanos) {
			return this.grantedNanos - nanos > 0;
		}

		void end() throws Exception {
			this.over = true;
			this.work.result();
		}

	}

}
