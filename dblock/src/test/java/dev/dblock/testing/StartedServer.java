package dev.dblock.testing;

/**
 * A server for a program that is no test: started from a {@code mongod} binary by the
 * same means, and ended when it is closed or the program ends, however it does.
 */
public final class StartedServer implements AutoCloseable {

	private final Deployment deployment;

	private final MongoServer server;

	private StartedServer(Deployment deployment) {
		this.deployment = deployment;
		this.server = new MongoServer(deployment);
	}

	/**
	 * Starts a server, and waits until it takes writes.
	 * @param kind a real kind of server
	 * @return the server
	 * @throws IllegalStateException if there is no binary, or it does not start
	 */
	public static StartedServer start(MongoServerKind kind) {
		ServerDemand demand = new ServerDemand(kind, true, true);
		try (ServerSources sources = ServerSources.ofThisMachine()) {
			ServerSources.Source source = sources.find(demand)
				.orElseThrow(() -> new IllegalStateException("No mongod was found: set " + ServerSources.BINARY_VARIABLE
						+ " to a binary (scripts/mongod finds or fetches one)"));
			return new StartedServer(source.start().get());
		}
	}

	/**
	 * Returns the server.
	 * @return the server
	 */
	public MongoServer server() {
		return this.server;
	}

	@Override
	public void close() {
		this.deployment.close();
	}

	@Override
	public String toString() {
		return this.deployment.toString();
	}

}
