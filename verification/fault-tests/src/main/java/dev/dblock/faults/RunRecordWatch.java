package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import org.bson.BsonType;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Collects the runs that the servers have recorded, since a document keeps only the last
 * twenty. They include grants whose instance died before its work began.
 */
final class RunRecordWatch implements AutoCloseable {

	private static final Duration INTERVAL = Duration.ofSeconds(2);

	private final MongoClient client;

	private final MongoCollection<Document> locks;

	private final Map<String, Map<Long, RecordedRun>> runs = new HashMap<>();

	private volatile @Nullable RuntimeException failure;

	private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor((task) -> {
		Thread thread = new Thread(task, "run-records");
		thread.setDaemon(true);
		return thread;
	});

	RunRecordWatch(String uri, String database) {
		this.client = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(uri))
			.applicationName("run-records")
			.timeout(INTERVAL.toMillis(), TimeUnit.MILLISECONDS)
			.build());
		this.locks = this.client.getDatabase(database)
			.getCollection("dblock_locks")
			.withReadConcern(ReadConcern.MAJORITY);
		ScheduledFuture<?> unused = this.executor.scheduleWithFixedDelay(this::tryRead, 0, INTERVAL.toMillis(),
				TimeUnit.MILLISECONDS);
	}

	private void tryRead() {
		try {
			read();
		}
		catch (MongoException ex) {
			// The next attempt is early enough, since the documents keep twenty runs
			Thread.onSpinWait();
		}
		catch (RuntimeException ex) {
			this.failure = ex;
		}
	}

	/**
	 * Read all documents.
	 */
	synchronized void read() {
		// The check of the dialect has a document with another type of id for a moment.
		for (Document lock : this.locks.find(Filters.type("_id", BsonType.STRING))) {
			lock.get("jobs", new Document()).forEach((id, each) -> {
				if (each instanceof Document job) {
					read(lock.getString("_id"), id, job);
				}
			});
		}
	}

	private void read(String name, String id, Document job) {
		List<RecordedRun> present = new ArrayList<>();
		job.getList("runs", Document.class, List.of()).forEach((run) -> present.add(recorded(name, run)));
		if (job.get("last") instanceof Document last) {
			present.add(recorded(name, last));
		}
		// They are no runs, and have no token
		present.removeIf(RecordedRun::isMissed);
		Map<Long, RecordedRun> known = this.runs.computeIfAbsent(name + " " + id, (key) -> new HashMap<>());
		present.forEach((run) -> known.put(run.token(), run));
		long oldest = present.stream().mapToLong(RecordedRun::token).min().orElse(0);
		known.replaceAll(
				(token, run) -> (run.isOpen() && token > oldest && !present.contains(run)) ? run.abandoned() : run);
	}

	private static RecordedRun recorded(String job, Document run) {
		return new RecordedRun(job, run.getDate("planned").getTime(), run.getInteger("attempt"),
				run.getDate("started").getTime(), (run.get("ended") instanceof Date ended) ? ended.getTime() : 0,
				(run.get("outcome") instanceof String outcome) ? outcome : "", run.getString("instance"),
				run.getLong("token"));
	}

	/**
	 * Return the runs that were read.
	 * @throws IllegalStateException if reading has ended with an unexpected failure, so
	 * that runs may be missing
	 */
	synchronized List<RecordedRun> runs() {
		if (this.failure != null) {
			throw new IllegalStateException("The runs cannot be read", this.failure);
		}
		return this.runs.values().stream().flatMap((ofJob) -> ofJob.values().stream()).toList();
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
		this.client.close();
	}

}
