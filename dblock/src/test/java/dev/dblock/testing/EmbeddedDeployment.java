package dev.dblock.testing;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/**
 * mongo-java-server in this process.
 */
final class EmbeddedDeployment extends Deployment {

	private final MongoServer server = new MongoServer(new MemoryBackend());

	private final String uri;

	EmbeddedDeployment() {
		super(MongoServerKind.EMBEDDED);
		this.uri = this.server.bindAndGetConnectionString();
	}

	@Override
	String uri() {
		return this.uri;
	}

	@Override
	void stop() {
		this.server.shutdownNow();
	}

	@Override
	public String toString() {
		return "the embedded server at " + this.uri;
	}

}
