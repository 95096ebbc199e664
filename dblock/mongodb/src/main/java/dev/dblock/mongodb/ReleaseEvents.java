package dev.dblock.mongodb;

import java.util.List;
import java.util.Set;

import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.dblock.mongodb.request.LockDocument;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

import static dev.dblock.mongodb.request.BsonParts.doc;

/**
 * Selects the changes of the lock collection that can free a lock. The selection takes
 * place on the server, so that grants and renewals cost the waiters nothing.
 */
final class ReleaseEvents {

	private static final String OPERATION = "operationType";

	private static final BsonDocument IS_DATE = doc("$type", new BsonString("date"));

	private static final Set<String> OF_THE_COLLECTION = Set.of("drop", "rename", "dropDatabase", "invalidate");

	private static final String ONE_DOCUMENT_REMOVED = "delete";

	/**
	 * A release is an update that sets {@code releasedAt} to a date; a grant sets it to
	 * null. For a small document, the event may be a replacement by a document with that
	 * date.
	 */
	static final List<BsonDocument> PIPELINE = List.of(
			doc("$match", doc("$or",
					new BsonArray(List.of(
							doc(OPERATION, new BsonString("update"))
								.append("updateDescription.updatedFields." + LockDocument.RELEASED_AT, IS_DATE),
							doc(OPERATION, new BsonString("replace")).append("fullDocument." + LockDocument.RELEASED_AT,
									IS_DATE),
							doc(OPERATION, doc("$in", removals())))))),
			doc("$project", doc(OPERATION, new BsonInt32(1)).append("documentKey", new BsonInt32(1))));

	private ReleaseEvents() {
	}

	private static BsonArray removals() {
		BsonArray removals = new BsonArray();
		removals.add(new BsonString(ONE_DOCUMENT_REMOVED));
		OF_THE_COLLECTION.forEach((type) -> removals.add(new BsonString(type)));
		return removals;
	}

	/**
	 * Return whether a change affects all locks at once.
	 */
	static boolean isOfTheCollection(ChangeStreamDocument<BsonDocument> event) {
		return OF_THE_COLLECTION.contains(event.getOperationTypeString());
	}

	/**
	 * Return the name of the lock that a change may have freed.
	 * @return the name, or {@code null} if the document is not one of ours
	 */
	static @Nullable String name(ChangeStreamDocument<BsonDocument> event) {
		BsonDocument key = event.getDocumentKey();
		BsonValue id = (key != null) ? key.get(LockDocument.ID) : null;
		return (id instanceof BsonString text) ? text.getValue() : null;
	}

}
