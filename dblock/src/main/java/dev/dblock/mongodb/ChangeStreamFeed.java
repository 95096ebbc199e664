package dev.dblock.mongodb;

import java.time.Duration;
import java.util.function.Supplier;

import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoCollection;
import dev.dblock.store.ReleaseFeed;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Reports releases from a change stream of the lock collection, which is read on a
 * dedicated thread while the feed is open.
 */
final class ChangeStreamFeed implements ReleaseFeed {

	private final Supplier<MongoCollection<BsonDocument>> collection;

	private @Nullable ChangeStreamReader reader;

	ChangeStreamFeed(Supplier<MongoCollection<BsonDocument>> collection) {
		this.collection = collection;
	}

	@Override
	public synchronized void open(Listener listener) {
		ChangeStreamReader present = this.reader;
		if (present == null || !present.isReading()) {
			this.reader = new ChangeStreamReader(this::stream, listener);
			this.reader.start();
		}
	}

	/**
	 * Close the feed. The reader is kept until another replaces it, so that a caller that
	 * closes the feed again can wait for the reader's termination.
	 */
	@Override
	public void close(Duration atMost) {
		ChangeStreamReader present;
		synchronized (this) {
			present = this.reader;
		}
		if (present != null) {
			present.stop(atMost);
		}
	}

	private ChangeStreamIterable<BsonDocument> stream() {
		return this.collection.get().watch(ReleaseEvents.PIPELINE);
	}

}
