package dev.dblock.faults;

import java.util.Random;

import com.mongodb.client.MongoDatabase;
import dev.dblock.testing.Cluster;
import org.jspecify.annotations.Nullable;

/**
 * All that can be disturbed in a run.
 *
 * @param cluster the servers
 * @param database the database of the locks, for operators
 * @param fleet the workers
 * @param network what is between them
 * @param clocks their clocks, if they can be set
 * @param stamps what the workers share
 * @param random what decides
 * @param log what happened
 */
record World(Cluster cluster, MongoDatabase database, Fleet fleet, Network network, @Nullable FakeTime clocks,
		Stamps stamps, Random random, FaultLog log) {

	/**
	 * The same world for something that happens beside something else, and must not take
	 * its chances from it.
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
