package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The requests that many held locks cost the server.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class ManyLeasesTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final int ROUNDS = 2;

	/**
	 * A third of the lease: that often each lease is renewed.
	 */
	private static final Duration ROUND = LEASE.dividedBy(3);

	private static final int PORTIONS = 5;

	private static final int THREADS = 8;

	private MongoServer server;

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		this.server = server;
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	@ParameterizedTest
	@CsvSource({ "1000, 2", "10000, 10" })
	void roundOfRenewalsCostsFewCommandsHoweverLongTheLocksTookToAcquire(int count, int mostPerRound) throws Exception {
		Instance holder = this.instances.start("holder");
		Instant first = now();
		List<LockHandle> handles = new ArrayList<>();
		for (int portion = 0; portion < PORTIONS; portion++) {
			awaitServerTime(first.plus(LEASE.multipliedBy(portion).dividedBy(8)));
			handles.addAll(acquire(holder, "portion-" + portion, count / PORTIONS));
		}
		Instant start = now();
		assertThat(Duration.between(first, start)).as("the stretch").isGreaterThan(ROUND);
		long before = renewals(holder);
		awaitServerTime(start.plus(ROUND.multipliedBy(ROUNDS)));
		long sent = renewals(holder) - before;
		// A busy machine may have checked later than planned, and repeated a renewal
		long rounds = Duration.between(start, now()).dividedBy(ROUND) + 2;
		assertThat(sent).isBetween(ROUNDS - 1L, rounds * mostPerRound);
		assertThat(holder.losses().all()).isEmpty();
		assertThat(handles).hasSize(count).allMatch(LockHandle::isHeld);
		assertThat(renewedSince(start)).isEqualTo(count);
	}

	private static long renewals(Instance holder) {
		return Stream.of("update", "find", "findAndModify", "aggregate").mapToLong(holder.commands()::count).sum();
	}

	private Instant now() {
		return ServerTime.sample(this.server.nodes().get(0)).localTime();
	}

	private void awaitServerTime(Instant time) {
		Instances.eventually().until(() -> !now().isBefore(time));
	}

	private static List<LockHandle> acquire(Instance holder, String prefix, int count) throws Exception {
		List<Work<List<LockHandle>>> workers = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			int worker = i;
			workers.add(Work.start(() -> {
				List<LockHandle> handles = new ArrayList<>();
				for (int j = worker; j < count; j += THREADS) {
					handles.add(holder.locks().acquire(prefix + "-" + j, LockOptions.lease(LEASE)));
				}
				return handles;
			}));
		}
		List<LockHandle> all = new ArrayList<>();
		for (Work<List<LockHandle>> worker : workers) {
			all.addAll(worker.result());
		}
		return all;
	}

	private long renewedSince(Instant start) {
		Document unexpired = new Document("$expr", new Document("$gt", List.of("$expiresAt", "$$NOW")));
		return this.instances.documents()
			.countDocuments(unexpired.append("holder", new Document("$exists", true))
				.append("updatedAt", new Document("$gt", start)));
	}

}
