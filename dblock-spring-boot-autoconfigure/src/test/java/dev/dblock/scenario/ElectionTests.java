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
	private static final Duration LEASE = Duration.ofSeconds((Long.getLong(LIMIT) != null) ? 10 : 30);

	/**
	 * No lease is lost at an election that is shorter.
	 */
	private static final Duration LONG_ELECTION = LEASE.dividedBy(2);

	private static final LockOptions PATIENT = LockOptions.lease(LEASE).waitUpTo(Duration.ofMinutes(2));

	@Test
	void renewalsAndAcquisitionsGoOnAfterTheElection(MongoReplicaSet server) throws Exception {
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

			long killed = System.nanoTime();
			server.killPrimary();
			server.awaitPrimary();
			long elected = System.nanoTime();
			Instances.eventually().until(() -> loads.stream().allMatch((load) -> load.hasWorkedSince(elected)));
			Duration acquired = Duration.ofNanos(System.nanoTime() - elected);
			Instances.eventually().ignoreExceptions().until(() -> {
				held.subList(0, 2).forEach(LockHandle::renew);
				return true;
			});
			Duration renewed = Duration.ofNanos(System.nanoTime() - elected);
			Duration election = Duration.ofNanos(elected - killed);
			logger.info(
					"A primary was elected {} ms after the kill, all waiters had their locks {} ms later, and both instances "
							+ "had renewed one after {} ms",
					election.toMillis(), acquired.toMillis(), renewed.toMillis());
			assertThat(acquired).isLessThan(AFTER_THE_ELECTION);
			assertThat(renewed).isLessThan(AFTER_THE_ELECTION);
			Instances.eventually()
				.until(() -> started.stream()
					.allMatch((instance) -> instance.commands().lastDoneNanos("update") > elected));
			for (Load load : loads) {
				load.end();
			}
			if (election.compareTo(LONG_ELECTION) < 0) {
				assertThat(held).allMatch(LockHandle::isHeld);
				started.forEach((instance) -> assertThat(instance.losses().all()).isEmpty());
				assertThat(held).allMatch(LockHandle::release);
			}
		}
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
