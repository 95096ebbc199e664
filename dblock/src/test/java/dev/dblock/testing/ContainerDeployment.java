package dev.dblock.testing;

import org.testcontainers.mongodb.MongoDBContainer;

/**
 * A server in a container: standalone or a replica set of one. Not of three: its members
 * would know each other by addresses that hold on one side of the container only.
 */
final class ContainerDeployment extends Deployment {

	private static final String IMAGE = "mongo:6.0.5";

	private final MongoDBContainer container;

	private ContainerDeployment(MongoServerKind kind, MongoDBContainer container) {
		super(kind);
		this.container = container;
	}

	static ContainerDeployment start(MongoServerKind kind) {
		MongoDBContainer container = new MongoDBContainer(IMAGE);
		if (kind.isReplicaSet()) {
			container.withReplicaSet();
		}
		container.start();
		return new ContainerDeployment(kind, container);
	}

	@Override
	String uri() {
		return this.container.getConnectionString();
	}

	@Override
	void stop() {
		this.container.stop();
	}

	@Override
	public String toString() {
		return "a container of " + IMAGE + " at " + uri();
	}

}
