package dev.dblock.faults;

import java.util.Random;

import com.mongodb.client.MongoDatabase;
import dev.dblock.testing.Cluster;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can be disturbed in a run.
 *
 * @param cluster the servers
 * @param database the database of the locks, for operators
 * @param fleet the workers
 * @param network the network between them
 * @param clocks the workers' clocks, if they can be set
 * @param stamps the state that the workers share
 * @param random the source of randomness
 * @param log the log of faults
 */
record World(Cluster cluster, MongoDatabase database, Fleet fleet, Network network, @Nullable FakeTime clocks,
		Stamps stamps, Random random, FaultLog log) {

	/**
	 * Return the same world for a concurrent fault, with a source of randomness of its
	 * own.
	 */
	World with(Random random) {
		return new World(this.cluster, this.database, this.fleet, this.network, this.clocks, this.stamps, random,
				this.log);
	}

	FakeTime requiredClocks() {
		if (this.clocks == null) {
			throw new IllegalStateException("the clocks of this run cannot be set");
		}
		return this.clocks;
	}

	int anyWorker() {
		return 1 + this.random.nextInt(this.fleet.numbers().size());
	}

	void sleep(long millis) throws InterruptedException {
		Thread.sleep(millis);
	}

	long between(int least, int most) {
		return (long) least + this.random.nextInt(most - least + 1);
	}

}
