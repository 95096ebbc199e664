package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import com.mongodb.client.ChangeStreamIterable;
import dev.dblock.mongodb.request.StoreRequest;
import dev.dblock.store.ReleaseFeed;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * Reports releases from a change stream of the lock collection, which is read on a
 * dedicated thread while the feed is open.
 */
final class ChangeStreamFeed implements ReleaseFeed {

	private final Supplier<StoreRequest> requests;

	private @Nullable ChangeStreamReader reader;

	ChangeStreamFeed(Supplier<StoreRequest> requests) {
		this.requests = requests;
	}

	@Override
	public synchronized void open(Listener listener) {
		ChangeStreamReader present = this.reader;
		if (present == null || !present.isReading()) {
			this.reader = new ChangeStreamReader(this::stream, this::closeOnServer, listener);
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
		return this.requests.get().collection().watch(ReleaseEvents.PIPELINE);
	}

	private void closeOnServer(long cursor) {
		StoreRequest request = this.requests.get();
		request.command(new BsonDocument("killCursors", new BsonString(request.collectionName())).append("cursors",
				new BsonArray(List.of(new BsonInt64(cursor)))));
	}

}
