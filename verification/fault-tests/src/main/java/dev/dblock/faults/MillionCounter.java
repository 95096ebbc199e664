package dev.dblock.faults;

import com.mongodb.client.MongoCollection;
import org.bson.Document;

/**
 * Document that counts the sections. One request reads it and the next writes it back, so
 * that an update in between is overwritten.
 */
final class MillionCounter {

	static final String COLLECTION = "million";

	private static final Document COUNTER = new Document("_id", "counter");

	private final MongoCollection<Document> collection;

	MillionCounter(MongoCollection<Document> collection) {
		this.collection = collection;
	}

	void create() {
		this.collection.insertOne(new Document(COUNTER).append("count", 0L).append("token", 0L));
	}

	long count() {
		return read().getLong("count");
	}

	/**
	 * Add sections.
	 * @param sections the number of sections
	 * @param token the token of the lock under which they are added
	 * @return whether the token is higher than that of the previous addition
	 */
	boolean add(long sections, long token) {
		Document before = read();
		this.collection.replaceOne(COUNTER,
				new Document("count", before.getLong("count") + sections).append("token", token));
		return token > before.getLong("token");
	}

	private Document read() {
		Document counter = this.collection.find(COUNTER).first();
		if (counter == null) {
			throw new IllegalStateException("the counter's document is gone");
		}
		return counter;
	}

}
