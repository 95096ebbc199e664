package dev.dblock.faults;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import com.mongodb.MongoServerException;
import dev.dblock.faults.Network.Disturbance;
import dev.dblock.testing.Cluster;

/**
 * Faults of the servers and of the connections between them. The window of a fault is
 * recorded even if its repair fails.
 */
final class ServerFaults {

	/**
	 * Codes with which a member refuses to step down: PrimarySteppedDown, if another
	 * election came first, NotWritablePrimary, and ExceededTimeLimit, if no other member
	 * has caught up.
	 */
	private static final Set<Integer> REFUSALS = Set.of(189, 10107, 262);

	private ServerFaults() {
	}

	/**
	 * Kill the primary. The fault is over when another member is primary.
	 */
	static void killPrimary(World world, String kind) throws InterruptedException {
		killPrimary(world, kind, world.cluster().awaitPrimary());
	}

	static void killPrimary(World world, String kind, int primary) throws InterruptedException {
		Cluster cluster = world.cluster();
		long begin = System.nanoTime();
		try {
			cluster.node(primary).kill();
			cluster.awaitPrimaryOtherThan(primary);
		}
		finally {
			world.log().add(kind, 0, begin);
		}
		world.sleep(world.between(500, 2500));
		cluster.node(primary).restart();
		cluster.awaitSettled();
	}

	/**
	 * Make the primary step down. If no other member catches up, it remains primary, and
	 * has rejected writes in the meantime.
	 */
	static void stepDown(World world, String kind) throws InterruptedException {
		int primary = world.cluster().awaitPrimary();
		String happened = Window.notDone(kind);
		long begin = System.nanoTime();
		try {
			world.cluster().stepDown(primary, 10);
			happened = kind;
			// On a busy machine, the same member may be elected again
			world.cluster().awaitPrimary();
		}
		catch (MongoServerException ex) {
			if (!REFUSALS.contains(ex.getCode())) {
				throw ex;
			}
		}
		finally {
			world.log().add(happened, 0, begin);
		}
		world.sleep(1000);
	}

	static void freezePrimary(World world, String kind) throws InterruptedException {
		Cluster cluster = world.cluster();
		int primary = cluster.awaitPrimary();
		long begin = System.nanoTime();
		cluster.node(primary).pause();
		try {
			cluster.awaitPrimaryOtherThan(primary);
			world.log().addElection(kind, begin);
			world.sleep(world.between(500, 4000));
		}
		finally {
			cluster.node(primary).resume();
			world.log().add(kind, 0, begin);
		}
		cluster.awaitSettled();
	}

	static void freezePrimaryShortly(World world, String kind) throws InterruptedException {
		Cluster cluster = world.cluster();
		int primary = cluster.awaitPrimary();
		long begin = System.nanoTime();
		cluster.node(primary).pause();
		try {
			world.sleep(world.between(500, 1300));
		}
		finally {
			cluster.node(primary).resume();
			cluster.awaitPrimary();
			world.log().add(kind, 0, begin);
		}
		cluster.awaitSettled();
	}

	/**
	 * Drop all traffic between the primary and all other members and workers, in one
	 * direction, the other, or both.
	 */
	static void cutOff(World world, String kind, boolean out, boolean in) throws InterruptedException {
		Cluster cluster = world.cluster();
		int primary = cluster.awaitPrimary();
		long begin = System.nanoTime();
		try {
			if (out) {
				others(cluster, primary).forEach((other) -> cluster.stall(primary, other));
				world.network().disturbMember(primary, Disturbance.swallowAnswers());
			}
			if (in) {
				others(cluster, primary).forEach((other) -> cluster.stall(other, primary));
				world.network().disturbMember(primary, Disturbance.swallowRequests());
			}
			cluster.awaitPrimaryOtherThan(primary);
			world.log().addElection(kind, begin);
			world.sleep(world.between(500, 3000));
		}
		finally {
			cluster.healLinks();
			world.network().healMember(primary);
			world.log().add(kind, 0, begin);
		}
		cluster.awaitSettled();
	}

	private static List<Integer> others(Cluster cluster, int member) {
		return IntStream.range(0, cluster.size()).filter((other) -> other != member).boxed().toList();
	}

	static void freezeSecondaries(World world, String kind) throws InterruptedException {
		Cluster cluster = world.cluster();
		int primary = cluster.awaitPrimary();
		long begin = System.nanoTime();
		others(cluster, primary).forEach((other) -> cluster.node(other).pause());
		try {
			world.sleep(world.between(1000, 4000));
		}
		finally {
			others(cluster, primary).forEach((other) -> cluster.node(other).resume());
			cluster.awaitSettled();
			world.log().add(kind, 0, begin);
		}
	}

	/**
	 * Stop replication. The primary continues, but no write reaches a majority, because
	 * no other member fetches it.
	 */
	static void stopReplication(World world, String kind) throws InterruptedException {
		Cluster cluster = world.cluster();
		List<FailPoint> failPoints = others(cluster, cluster.awaitPrimary()).stream()
			.map((member) -> new FailPoint("stopReplProducer", cluster.node(member)))
			.toList();
		long begin = System.nanoTime();
		try {
			failPoints.forEach(FailPoint::reset);
			failPoints.forEach(FailPoint::switchOn);
			world.sleep(world.between(1000, 3000));
		}
		finally {
			try {
				Faults.insist(() -> failPoints.forEach(FailPoint::switchOff));
				cluster.awaitSettled();
			}
			finally {
				boolean stopped = failPoints.stream().allMatch(FailPoint::wasMet);
				world.log().add(stopped ? kind : Window.notDone(kind), 0, begin);
			}
		}
	}

}
