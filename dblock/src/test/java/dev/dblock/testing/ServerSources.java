package dev.dblock.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;

/**
 * Finds where a test's server can come from, in this order: the connection string in the
 * environment; a {@code mongod} binary; Docker; the embedded server.
 */
final class ServerSources implements AutoCloseable {

	static final String URI_VARIABLE = "DBLOCK_TEST_MONGODB_URI";

	static final String BINARY_VARIABLE = "DBLOCK_TEST_MONGOD";

	/** The {@code featureCompatibilityVersion} of servers that the tests start. */
	static final String FCV_VARIABLE = "DBLOCK_TEST_MONGOD_FCV";

	/**
	 * The beginning of the reason when a test is skipped because there is no server;
	 * {@code scripts/verify} looks for it.
	 */
	static final String SKIPPED = "needs a real MongoDB server";

	private final Map<String, String> environment;

	private final BooleanSupplier docker;

	private @Nullable ExternalDeployment external;

	ServerSources(Map<String, String> environment, BooleanSupplier docker) {
		this.environment = environment;
		this.docker = docker;
	}

	static ServerSources ofThisMachine() {
		return new ServerSources(System.getenv(), () -> DockerClientFactory.instance().isDockerAvailable());
	}

	/**
	 * Returns where the server can be had.
	 * @param demand the demands of the test
	 * @return the first source that serves, or empty if the test has to be skipped
	 */
	Optional<Source> find(ServerDemand demand) {
		MongoServerKind kind = demand.kind();
		if (kind == MongoServerKind.EMBEDDED) {
			return Optional.of(embedded());
		}
		Optional<ExternalDeployment> external = external();
		if (external.isPresent() && !demand.fresh() && !demand.faults() && external.get().serves(kind)) {
			return Optional.of(new Source(external.get().toString(), external::get));
		}
		MongoServerKind real = (kind == MongoServerKind.ANY) ? MongoServerKind.REPLICA_SET_1 : kind;
		Optional<Path> binary = binary();
		if (binary.isPresent()) {
			return Optional.of(new Source("mongod as " + real, () -> start(binary.get(), real)));
		}
		if (!demand.faults() && real != MongoServerKind.REPLICA_SET_3 && this.docker.getAsBoolean()) {
			return Optional.of(new Source("a container as " + real, () -> ContainerDeployment.start(real)));
		}
		return demand.needsRealServer() ? Optional.empty() : Optional.of(embedded());
	}

	private Deployment start(Path binary, MongoServerKind kind) {
		MongodDeployment started = MongodDeployment.start(binary, kind);
		variable(FCV_VARIABLE).ifPresent(started::setFeatureCompatibilityVersion);
		return started;
	}

	static String reasonToSkip(ServerDemand demand) {
		return SKIPPED + " (" + demand.kind() + (demand.faults() ? ", started by the test" : "")
				+ ") and found none: set " + BINARY_VARIABLE
				+ " to a mongod binary (scripts/mongod finds or fetches one)"
				+ (demand.faults() || demand.fresh() ? "" : ", or " + URI_VARIABLE + " to a server of that kind");
	}

	private static Source embedded() {
		return new Source("embedded", EmbeddedDeployment::new);
	}

	private synchronized Optional<ExternalDeployment> external() {
		if (this.external == null) {
			this.external = variable(URI_VARIABLE).map(ExternalDeployment::connect).orElse(null);
		}
		return Optional.ofNullable(this.external);
	}

	private Optional<Path> binary() {
		Optional<Path> named = variable(BINARY_VARIABLE).map(Path::of);
		if (named.isPresent() && !Files.isExecutable(named.get())) {
			throw new IllegalStateException(
					BINARY_VARIABLE + " names " + named.get() + ", which is no executable file");
		}
		return named.or(this::binaryOnPath);
	}

	private Optional<Path> binaryOnPath() {
		return Pattern.compile(Pattern.quote(System.getProperty("path.separator")))
			.splitAsStream(this.environment.getOrDefault("PATH", ""))
			.filter((folder) -> !folder.isEmpty())
			.map((folder) -> Path.of(folder, "mongod"))
			.filter((file) -> Files.isRegularFile(file) && Files.isExecutable(file))
			.findFirst();
	}

	private Optional<String> variable(String name) {
		return Optional.ofNullable(this.environment.get(name)).filter((value) -> !value.isBlank());
	}

	@Override
	public synchronized void close() {
		if (this.external != null) {
			this.external.close();
		}
	}

	/**
	 * A way to get a server.
	 *
	 * @param name distinguishes shared servers
	 * @param start starts it, or connects to it
	 */
	record Source(String name, Supplier<? extends Deployment> start) {
	}

}
