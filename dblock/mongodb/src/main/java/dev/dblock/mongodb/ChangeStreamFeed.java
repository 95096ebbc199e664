package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
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
 * dedicated thread while the feed is open. Not in a sharded cluster: a router passes an
 * event on once no shard can have an earlier one, and a shard without writes shows that
 * every ten seconds.
 */
final class ChangeStreamFeed implements ReleaseFeed {

	private final Supplier<StoreRequest> requests;

	private final BooleanSupplier sharded;

	private @Nullable ChangeStreamReader reader;

	/**
	 * Create a feed.
	 * @param requests creates requests
	 * @param sharded whether the servers are known to be the routers of a sharded cluster
	 */
	ChangeStreamFeed(Supplier<StoreRequest> requests, BooleanSupplier sharded) {
		this.requests = requests;
		this.sharded = sharded;
	}

	@Override
	public synchronized void open(Listener listener) {
		ChangeStreamReader present = this.reader;
		if (this.sharded.getAsBoolean()) {
			// Opened before the servers were known
			if (present != null) {
				present.stop(Duration.ZERO);
			}
			listener.unsupported("in a sharded cluster, releases would be reported up to ten seconds late");
		}
		else if (present == null || !present.isReading()) {
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
