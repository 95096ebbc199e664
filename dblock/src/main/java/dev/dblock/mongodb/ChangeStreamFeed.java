package dev.dblock.mongodb;

import java.time.Duration;
import java.util.function.Supplier;

import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoCollection;
import dev.dblock.store.ReleaseFeed;
import dev.dblock.store.ReleaseListener;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Tells of releases by a change stream of the lock collection, read on a thread of its
 * own while the feed is open.
 */
final class ChangeStreamFeed implements ReleaseFeed {

	private final Supplier<MongoCollection<BsonDocument>> collection;

	private @Nullable ChangeStreamReader reader;

	ChangeStreamFeed(Supplier<MongoCollection<BsonDocument>> collection) {
		this.collection = collection;
	}

	@Override
	public synchronized void open(ReleaseListener listener) {
		ChangeStreamReader present = this.reader;
		if (present == null || !present.isReading()) {
			this.reader = new ChangeStreamReader(this::stream, listener);
			this.reader.start();
		}
	}

	/**
	 * The reader is kept until another takes its place, so that who closes the feed again
	 * can wait for its end.
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
