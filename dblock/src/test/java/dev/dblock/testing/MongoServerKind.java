package dev.dblock.testing;

/**
 * The kinds of MongoDB server that a test can ask for.
 */
public enum MongoServerKind {

	/**
	 * Whichever server there is: a replica set if a real server can be had, else the
	 * embedded one.
	 */
	ANY(0),

	/**
	 * mongo-java-server in the test's own process: neither {@code hello} nor sessions,
	 * transactions, or updates with a pipeline.
	 */
	EMBEDDED(0),

	/**
	 * A real server that is no member of a replica set.
	 */
	STANDALONE(1),

	/**
	 * A real replica set of one member: transactions, change streams, no failover.
	 */
	REPLICA_SET_1(1),

	/**
	 * A replica set of one member with access control, started for the test. The client
	 * and the connection strings of the test's view of it are those of a user with all
	 * privileges.
	 */
	REPLICA_SET_1_WITH_USERS(1),

	/**
	 * A real replica set of three members that all hold data and may all be elected.
	 */
	REPLICA_SET_3(3);

	private final int members;

	MongoServerKind(int members) {
		this.members = members;
	}

	int members() {
		return this.members;
	}

	boolean isReplicaSet() {
		return this == REPLICA_SET_1 || this == REPLICA_SET_1_WITH_USERS || this == REPLICA_SET_3;
	}

	boolean needsRealServer() {
		return this.members > 0;
	}

}
