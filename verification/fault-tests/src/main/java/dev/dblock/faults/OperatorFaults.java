package dev.dblock.faults;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import com.mongodb.MongoNotPrimaryException;
import dev.dblock.testing.Cluster;
import org.bson.Document;

/**
 * Faults for which the guarantees do not hold. They are judged separately: the overlaps
 * that they cause are counted and shown.
 */
final class OperatorFaults {

	private static final String LOCKS = "dblock_locks";

	private static final Duration FAR_AHEAD = Duration.ofSeconds(8);

	private OperatorFaults() {
	}

	static List<Fault> all(boolean clocks) {
		List<Fault> faults = List.of(new Fault("lock document deleted", true, OperatorFaults::deleteDocuments),
				new Fault("collection dropped", true, OperatorFaults::dropCollection),
				new Fault("member's clock beyond the allowance", true, OperatorFaults::electMemberAhead));
		return clocks ? faults : faults.subList(0, faults.size() - 1);
	}

	private static void deleteDocuments(World world, String kind) throws InterruptedException {
		for (int i = 0; i < 10; i++) {
			long begin = System.nanoTime();
			for (String name : LockName.names()) {
				world.database().getCollection(LOCKS).deleteOne(new Document("_id", name));
			}
			world.log().add(kind, 0, begin);
			world.sleep(1000);
		}
	}

	private static void dropCollection(World world, String kind) throws InterruptedException {
		for (int i = 0; i < 5; i++) {
			long begin = System.nanoTime();
			world.database().getCollection(LOCKS).drop();
			world.log().add(kind, 0, begin);
			world.sleep(2000);
		}
	}

	/**
	 * Elect a member whose clock is ahead by more than a lease, so that all leases seem
	 * to have expired.
	 */
	private static void electMemberAhead(World world, String kind) throws InterruptedException {
		Cluster cluster = world.cluster();
		int primary = cluster.awaitPrimary();
		long begin = System.nanoTime();
		IntStream.range(0, cluster.size())
			.filter((member) -> member != primary)
			.forEach((member) -> world.requiredClocks().set("mongod-" + member, FAR_AHEAD));
		world.sleep(1500);
		try {
			cluster.stepDown(primary, 10);
		}
		catch (MongoNotPrimaryException ex) {
			// Their clocks have already made the other members elect one of them
			Thread.onSpinWait();
		}
		cluster.awaitPrimaryOtherThan(primary);
		world.log().add(kind, 0, begin);
		world.sleep(8000);
	}

}
