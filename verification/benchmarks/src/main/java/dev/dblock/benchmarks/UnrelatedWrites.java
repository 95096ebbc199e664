package dev.dblock.benchmarks;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import org.bson.Document;

/**
 * Inserts documents into a collection without locks at a steady rate, a hundred times a
 * second some. The server writes an entry of the oplog for each document.
 */
final class UnrelatedWrites implements AutoCloseable {

	private static final int BATCHES_PER_SECOND = 100;

	private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

	private final AtomicLong count = new AtomicLong();

	private final MongoCollection<Document> collection;

	private final long startNanos = System.nanoTime();

	/**
	 * Begin to write.
	 * @param database the database
	 * @param perSecond the number of documents per second; zero writes nothing
	 */
	UnrelatedWrites(MongoDatabase database, int perSecond) {
		this.collection = database.getCollection("unrelated").withWriteConcern(WriteConcern.W1);
		int size = perSecond / BATCHES_PER_SECOND;
		if (size > 0) {
			var unused = this.thread.scheduleAtFixedRate(() -> write(size), 0,
					TimeUnit.SECONDS.toNanos(1) / BATCHES_PER_SECOND, TimeUnit.NANOSECONDS);
		}
	}

	private void write(int size) {
		List<Document> documents = Stream.generate(() -> new Document("text", "written by the application"))
			.limit(size)
			.toList();
		this.collection.insertMany(documents);
		this.count.addAndGet(size);
	}

	double perSecond() {
		return this.count.get() * 1e9 / (System.nanoTime() - this.startNanos);
	}

	@Override
	public void close() throws InterruptedException {
		this.thread.shutdown();
		if (!this.thread.awaitTermination(1, TimeUnit.MINUTES)) {
			throw new IllegalStateException("The writes do not end");
		}
		this.collection.drop();
	}

}
