package dev.dblock.testing;

/**
 * A replica set that the tests started, with the faults that can be caused in it. Members
 * that a test leaves disturbed are restored after it.
 */
public final class MongoReplicaSet extends MongoServer {

	MongoReplicaSet(MongodDeployment deployment) {
		super(deployment);
	}

	/**
	 * Returns the member that is primary now.
	 * @return the primary
	 * @throws IllegalStateException if there is none
	 */
	public MongoNode primary() {
		return controlled().primary();
	}

	/**
	 * Waits until exactly one member that can answer is primary, and has one elected if
	 * none hands over. By themselves, the members elect one only after half a minute.
	 * @return the primary
	 */
	public MongoNode awaitPrimary() {
		return controlled().awaitPrimary();
	}

	/**
	 * Waits until one member is primary and all others are secondaries.
	 */
	public void awaitAllSecondaries() {
		controlled().awaitSettled();
	}

	/**
	 * Kills the primary and returns at once, before another one is elected.
	 * @return the member that was killed
	 */
	public MongoNode killPrimary() {
		MongoNode primary = primary();
		primary.kill();
		return primary;
	}

	/**
	 * Makes the primary hand over to a secondary that has caught up.
	 * @param seconds how long it may not be elected again
	 * @return the member that stepped down
	 */
	public MongoNode stepDown(int seconds) {
		MongoNode primary = primary();
		primary.stepDown(seconds);
		return primary;
	}

}
