package dev.dblock.faults;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.connection.ServerDescription;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Continuously reads from the primary and writes to it, in a document of its own,
 * unaffected by the disturbances of the workers. It starts new requests while it still
 * waits for answers, so that it receives the answers of a new primary as soon as there
 * are any.
 */
final class PrimaryProbe implements AutoCloseable {

	private static final Duration INTERVAL = Duration.ofMillis(100);

	private static final Document PROBE = new Document("_id", "probe");

	private static final ThreadFactory DAEMONS = (task) -> {
		Thread thread = new Thread(task, "primary-probe");
		thread.setDaemon(true);
		return thread;
	};

	private final MongoClient client;

	private final MongoCollection<Document> collection;

	private final PrimaryAnswers answers;

	private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(DAEMONS);

	private final ExecutorService requests = Executors.newCachedThreadPool(DAEMONS);

	PrimaryProbe(String uri, String database, FaultLog log) {
		this.answers = new PrimaryAnswers(log);
		this.client = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(uri))
			.applicationName("primary-probe")
			.timeout(PrimaryAnswers.LONGEST_SILENCE.toMillis(), TimeUnit.MILLISECONDS)
			.applyToServerSettings((server) -> server.heartbeatFrequency(500, TimeUnit.MILLISECONDS))
			.build());
		this.collection = this.client.getDatabase(database)
			.getCollection("probe")
			.withWriteConcern(WriteConcern.MAJORITY);
		ScheduledFuture<?> unused = this.clock.scheduleWithFixedDelay(() -> this.requests.execute(this::probe), 0,
				INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
	}

	private void probe() {
		try {
			this.collection.find(PROBE).first();
			this.answers.read(System.nanoTime(), term());
			this.collection.updateOne(PROBE, new Document("$inc", new Document("count", 1)),
					new UpdateOptions().upsert(true));
			this.answers.written(System.nanoTime());
		}
		catch (MongoException | IllegalStateException ex) {
			// The next answer shows the silence, or the probe is being closed
			Thread.onSpinWait();
		}
	}

	private @Nullable Object term() {
		return this.client.getClusterDescription()
			.getServerDescriptions()
			.stream()
			.filter(ServerDescription::isPrimary)
			.flatMap((server) -> Stream.ofNullable(server.getElectionId()))
			.findFirst()
			.orElse(null);
	}

	@Override
	public void close() {
		this.clock.shutdownNow();
		this.requests.shutdownNow();
		this.client.close();
	}

}
