package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import com.mongodb.CursorType;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.Filters;
import org.bson.Document;

/**
 * Cursors of the plain driver that each wait for something new, in a thread of its own.
 */
final class RawCursors implements AutoCloseable {

	private static final String SIGNALS = "raw_signals";

	private static final long SIGNALS_BYTES = 65_536;

	private final CountDownLatch closed = new CountDownLatch(1);

	private final List<Thread> threads;

	private RawCursors(int count, Supplier<MongoCursor<?>> cursors) throws InterruptedException {
		CountDownLatch opened = new CountDownLatch(count);
		this.threads = IntStream.range(0, count).mapToObj((i) -> new Thread(() -> read(cursors, opened))).toList();
		this.threads.forEach(Thread::start);
		if (!opened.await(1, TimeUnit.MINUTES)) {
			throw new IllegalStateException("Not all cursors were opened");
		}
	}

	/**
	 * Open change streams of the lock collection that select the changes that free a
	 * lock.
	 */
	static RawCursors changeStreams(MongoDatabase database, int count) throws InterruptedException {
		MongoCollection<Document> locks = database.getCollection("dblock_locks");
		return new RawCursors(count, () -> locks
			.watch(List
				.of(Aggregates.match(Filters.or(Filters.type("updateDescription.updatedFields.releasedAt", "date"),
						Filters.type("fullDocument.releasedAt", "date"), Filters.eq("operationType", "delete")))))
			.maxAwaitTime(1, TimeUnit.SECONDS)
			.cursor());
	}

	/**
	 * Open tailable cursors on a capped collection, to which nothing is written.
	 */
	static RawCursors tailable(MongoDatabase database, int count) throws InterruptedException {
		if (!database.listCollectionNames().into(new ArrayList<>()).contains(SIGNALS)) {
			database.createCollection(SIGNALS, new CreateCollectionOptions().capped(true).sizeInBytes(SIGNALS_BYTES));
			// Without a document, the cursor ends at once
			database.getCollection(SIGNALS).insertOne(new Document());
		}
		MongoCollection<Document> signals = database.getCollection(SIGNALS);
		return new RawCursors(count,
				() -> signals.find().cursorType(CursorType.TailableAwait).maxAwaitTime(1, TimeUnit.SECONDS).cursor());
	}

	private void read(Supplier<MongoCursor<?>> cursors, CountDownLatch opened) {
		try (MongoCursor<?> cursor = cursors.get()) {
			opened.countDown();
			while (this.closed.getCount() > 0) {
				cursor.tryNext();
			}
		}
	}

	@Override
	public void close() throws InterruptedException {
		this.closed.countDown();
		for (Thread thread : this.threads) {
			thread.join();
		}
	}

}
