package dev.dblock.mongodb.request;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;

import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoCursor;
import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.store.BusyStoreException;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;

import static dev.dblock.mongodb.request.BsonParts.doc;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * The locks that a {@code find} for several names has returned. Foreign documents are
 * skipped.
 */
final class FoundLocks {

	private static final BsonDocument BY_NAME = doc(LockDocument.ID, new BsonInt32(1));

	private final List<LockInfo> infos = new ArrayList<>();

	private final Map<String, Found> byName = new HashMap<>();

	private final Map<String, Found> byHolder = new HashMap<>();

	/**
	 * Return a filter for the names that are listed. It also matches the names that
	 * follow in sort order. Unlike a pattern, the prefix is compared literally.
	 * @param request which locks are listed
	 * @return the filter
	 */
	static BsonDocument from(ListRequest request) {
		return doc(LockDocument.ID, doc("$gte", text(request.prefix())).append("$gt", text(request.after())));
	}

	void add(BsonDocument stored, long now) {
		LockDocument.readIfOurs(stored).ifPresent((document) -> {
			LockInfo info = document.toInfo(now);
			this.infos.add(info);
			Found found = new Found(document, info);
			this.byName.put(info.name(), found);
			if (document.holder() != null) {
				this.byHolder.put(document.holder(), found);
			}
		});
	}

	/**
	 * Read one page. The server does not limit the documents, since it cannot tell which
	 * of them are foreign.
	 * @param request which locks are listed
	 * @param matching the documents that the filter matches
	 * @param now returns the server's time for a document, in milliseconds
	 */
	LockPage page(ListRequest request, FindIterable<BsonDocument> matching, ToLongFunction<BsonDocument> now) {
		try (MongoCursor<BsonDocument> cursor = matching.sort(BY_NAME).batchSize(request.limit() + 1).cursor()) {
			while (cursor.hasNext()) {
				BsonDocument stored = cursor.next();
				if (!stored.getString(LockDocument.ID).getValue().startsWith(request.prefix())) {
					break;
				}
				add(stored, now.applyAsLong(stored));
				if (this.infos.size() > request.limit()) {
					return new LockPage(this.infos.subList(0, request.limit()), true);
				}
			}
		}
		return new LockPage(this.infos, false);
	}

	@Nullable LockDocument document(LeaseKey lease) {
		Found found = find(lease);
		return (found != null) ? found.document() : null;
	}

	// By a collation of the collection, the stored name of a lease can have another
	// spelling.
	private @Nullable Found find(LeaseKey lease) {
		Found named = this.byName.get(lease.id());
		return (named != null) ? named : this.byHolder.get(lease.holder());
	}

	/**
	 * Return the leases that are gone.
	 * @param leases the leases that were to be renewed
	 * @param renewed how many of them were renewed
	 * @return the leases whose document has another holder, has expired, or is missing
	 * @throws BusyStoreException if fewer leases are gone than were not renewed, or one
	 * exists that was not renewed; it is then unknown which, and no lease can be relied
	 * upon
	 */
	Map<LeaseKey, Optional<LockInfo>> gone(Collection<LeaseKey> leases, long renewed) {
		Map<LeaseKey, Optional<LockInfo>> gone = new HashMap<>();
		int kept = 0;
		for (LeaseKey lease : leases) {
			Found found = find(lease);
			if (found == null || !found.isRenewable(lease)) {
				gone.put(lease, Optional.ofNullable(found).map(Found::info));
			}
			else if (found.isProlonged()) {
				kept++;
			}
		}
		if (gone.size() < leases.size() - renewed || kept < leases.size() - gone.size()) {
			throw new BusyStoreException(
					("Of %d leases, %d were renewed, %d are gone, and %d already last long enough: the locks changed"
							+ " in the meantime. Renew again")
						.formatted(leases.size(), renewed, gone.size(), kept));
		}
		return gone;
	}

	private record Found(LockDocument document, LockInfo info) {

		private boolean isRenewable(LeaseKey lease) {
			return this.info.held() && this.document.isHeldBy(lease.holder());
		}

		/**
		 * Return whether nearly a whole lease is left. A renewal takes no longer than a
		 * sixth of a lease. A lease that was not renewed can still appear as held if the
		 * clock of another server is behind that of the server that considered it
		 * expired.
		 */
		private boolean isProlonged() {
			return this.info.remaining().toMillis() >= this.document.leaseMillis() / 6 * 5;
		}

	}

}
