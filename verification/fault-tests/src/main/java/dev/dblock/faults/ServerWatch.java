package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Continuously reads the lock documents from the primary, unaffected by the disturbances
 * of the workers.
 */
final class ServerWatch implements AutoCloseable {

	private static final Duration INTERVAL = Duration.ofMillis(40);

	private static final long LONGEST_GAP_NANOS = TimeUnit.SECONDS.toNanos(1);

	/**
	 * An acquirer has one acquisition of a name at a time, and tokens distinguish its
	 * acquisitions. The check of the dialect has a document with another type of id for a
	 * moment.
	 */
	private static final List<Document> LOOK = List.of(
			new Document("$match", new Document("_id", new Document("$type", "string"))),
			new Document("$project",
					new Document("token", 1).append("holder",
							new Document("$cond", List.of(new Document("$gt", List.of("$expiresAt", "$$NOW")),
									new Document("$ifNull", List.of("$acquirer", "nobody")), "$$REMOVE")))));

	private final MongoClient client;

	private final MongoCollection<Document> locks;

	private final Map<String, Stretch> present = new HashMap<>();

	private final List<Stretch> stretches = new ArrayList<>();

	private final Thread thread = new Thread(this::run, "server-watch");

	private volatile boolean closed;

	private volatile @Nullable RuntimeException failure;

	ServerWatch(String uri, String database) {
		this.client = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(uri))
			.applicationName("server-watch")
			.timeout(1, TimeUnit.SECONDS)
			.applyToServerSettings((server) -> server.heartbeatFrequency(500, TimeUnit.MILLISECONDS))
			.build());
		this.locks = this.client.getDatabase(database).getCollection("dblock_locks");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	private void run() {
		while (!this.closed) {
			try {
				look();
				Thread.sleep(INTERVAL.toMillis());
			}
			catch (MongoException ex) {
				// There is no primary at the moment, so there is nothing to read
				Thread.onSpinWait();
			}
			catch (InterruptedException ex) {
				return;
			}
			catch (RuntimeException ex) {
				this.failure = ex;
				return;
			}
		}
	}

	private void look() {
		long sent = System.nanoTime();
		for (Document lock : this.locks.aggregate(LOOK)) {
			// The server was in this state at some time after the request was sent
			see(new Stretch(lock.getString("_id"), lock.getString("holder"), lock.getLong("token"), System.nanoTime(),
					sent));
		}
	}

	private synchronized void see(Stretch seen) {
		Stretch before = this.present.get(seen.name());
		if (before != null && seen.continues(before, LONGEST_GAP_NANOS)) {
			this.present.put(seen.name(), before.until(seen.lastNanos()));
			return;
		}
		if (before != null) {
			this.stretches.add(before);
		}
		this.present.put(seen.name(), seen);
	}

	/**
	 * Return the current holder of a lock.
	 * @return the holder, or {@code null} if the lock is free or was never seen
	 */
	synchronized @Nullable String holder(String name) {
		Stretch stretch = this.present.get(name);
		return (stretch != null) ? stretch.holder() : null;
	}

	/**
	 * Return the states that were read.
	 * @throws IllegalStateException if reading has ended with an unexpected failure, so
	 * that states are missing
	 */
	synchronized List<Stretch> stretches() {
		if (this.failure != null) {
			throw new IllegalStateException("The locks cannot be read", this.failure);
		}
		List<Stretch> all = new ArrayList<>(this.stretches);
		all.addAll(this.present.values());
		return all;
	}

	@Override
	public void close() {
		this.closed = true;
		this.thread.interrupt();
		this.client.close();
	}

}
