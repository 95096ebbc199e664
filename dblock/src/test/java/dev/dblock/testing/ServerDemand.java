package dev.dblock.testing;

/**
 * The demands of a test on its server.
 *
 * @param kind the kind of server
 * @param fresh whether it must be started for this test alone
 * @param faults whether the tests must have started it from a binary
 */
record ServerDemand(MongoServerKind kind, boolean fresh, boolean faults) {

	static ServerDemand of(MongoServerTest annotation, boolean wantsReplicaSet) {
		return new ServerDemand(annotation.kind(), annotation.fresh(), annotation.faults() || wantsReplicaSet);
	}

	boolean needsRealServer() {
		return this.kind.needsRealServer() || this.faults;
	}

}
