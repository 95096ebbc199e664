package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
 * Looks at the locks' documents all the time, as the primary has them, past everything
 * that disturbs the workers, and writes to a document of its own, to see whether a
 * majority confirms it.
 */
final class ServerWatch implements AutoCloseable {

	private static final Duration INTERVAL = Duration.ofMillis(40);

	/**
	 * An acquirer has one acquisition of a name at a time, and tokens tell them apart.
	 */
	private static final List<Document> LOOK = List.of(new Document("$project",
			new Document("token", 1).append("holder",
					new Document("$cond", List.of(new Document("$gt", List.of("$expiresAt", "$$NOW")),
							new Document("$ifNull", List.of("$acquirer", "nobody")), "$$REMOVE")))));

	private final MongoClient client;

	private final MongoCollection<Document> locks;

	private final MongoCollection<Document> writes;

	private final PrimaryAnswers answers;

	private final Map<String, Stretch> present = new HashMap<>();

	private final List<Stretch> stretches = new ArrayList<>();

	private final List<Thread> threads = List.of(new Thread(() -> repeat(this::look), "server-watch"),
			new Thread(() -> repeat(this::write), "server-watch-writes"));

	private volatile boolean closed;

	ServerWatch(String uri, String database, FaultLog log) {
		this.answers = new PrimaryAnswers(log);
		this.client = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(uri))
			.applicationName("server-watch")
			.timeout(1, TimeUnit.SECONDS)
			.applyToServerSettings((server) -> server.heartbeatFrequency(500, TimeUnit.MILLISECONDS))
			.build());
		this.locks = this.client.getDatabase(database).getCollection("dblock_locks");
		this.writes = this.client.getDatabase(database).getCollection("watch").withWriteConcern(WriteConcern.MAJORITY);
		for (Thread thread : this.threads) {
			thread.setDaemon(true);
			thread.start();
		}
	}

	private void repeat(Runnable look) {
		while (!this.closed) {
			try {
				look.run();
			}
			catch (MongoException | IllegalStateException ex) {
				// There is no primary at the moment, and so nothing to be seen; or it is
				// the end
				Thread.onSpinWait();
			}
			LockSupport.parkNanos(INTERVAL.toNanos());
		}
	}

	private void look() {
		for (Document lock : this.locks.aggregate(LOOK)) {
			long now = System.nanoTime();
			see(new Stretch(lock.getString("_id"), lock.getString("holder"), lock.getLong("token"), now, now));
		}
		this.answers.read(System.nanoTime(), term());
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

	private void write() {
		this.writes.updateOne(new Document("_id", "watch"), new Document("$inc", new Document("count", 1)),
				new UpdateOptions().upsert(true));
		this.answers.written(System.nanoTime());
	}

	private synchronized void see(Stretch seen) {
		Stretch before = this.present.get(seen.name());
		if (before != null && seen.continues(before, PrimaryAnswers.LONGEST_SILENCE.toNanos())) {
			this.present.put(seen.name(), before.until(seen.lastNanos()));
			return;
		}
		if (before != null) {
			this.stretches.add(before);
		}
		this.present.put(seen.name(), seen);
	}

	/**
	 * Who has a lock at present.
	 * @return the holder, or nothing when it is free or was never seen
	 */
	synchronized @Nullable String holder(String name) {
		Stretch stretch = this.present.get(name);
		return (stretch != null) ? stretch.holder() : null;
	}

	synchronized List<Stretch> stretches() {
		List<Stretch> all = new ArrayList<>(this.stretches);
		all.addAll(this.present.values());
		return all;
	}

	@Override
	public void close() {
		this.closed = true;
		this.threads.forEach(Thread::interrupt);
		this.client.close();
	}

}
