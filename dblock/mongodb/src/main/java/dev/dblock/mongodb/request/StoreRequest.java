package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import com.mongodb.MongoWriteException;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.UpdateOptions;
import org.bson.BsonDocument;

import static dev.dblock.mongodb.request.BsonParts.doc;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * One request of the engine in progress: the collection and the server. Each command is
 * limited to the remaining time of the request.
 */
public final class StoreRequest {

	private static final Duration LONGEST = Duration.ofDays(365);

	/** Blank, which the name of a lock cannot be. */
	static final String NO_LOCK = " ";

	private final MongoDatabase database;

	private final LockCollection collection;

	private final long deadline;

	private int commands;

	StoreRequest(MongoDatabase database, LockCollection collection, Duration timeout) {
		this(database, collection, System.nanoTime() + nanos(timeout));
	}

	private StoreRequest(MongoDatabase database, LockCollection collection, long deadline) {
		this.database = database;
		this.collection = collection;
		this.deadline = deadline;
	}

	// A year is practically unlimited, and prevents an overflow of nanoTime and in the
	// driver.
	private static long nanos(Duration timeout) {
		return (timeout.compareTo(LONGEST) > 0) ? LONGEST.toNanos() : timeout.toNanos();
	}

	public String collectionName() {
		return this.collection.name();
	}

	public String databaseName() {
		return this.database.getName();
	}

	public MongoCollection<BsonDocument> collection() {
		this.commands++;
		return this.collection.in(this.database).withTimeout(millisLeft(), TimeUnit.MILLISECONDS);
	}

	/**
	 * Return the same request for another collection.
	 * @param collection the name of the collection
	 * @return a request with the same deadline
	 */
	public StoreRequest on(String collection) {
		this.commands++;
		return new StoreRequest(this.database, this.collection.other(collection), this.deadline);
	}

	public void createCollection() {
		this.commands++;
		this.database.withWriteConcern(WriteConcern.MAJORITY)
			.withTimeout(millisLeft(), TimeUnit.MILLISECONDS)
			.createCollection(collectionName());
	}

	public BsonDocument command(BsonDocument command) {
		this.commands++;
		return this.collection.commandsIn(this.database)
			.withTimeout(millisLeft(), TimeUnit.MILLISECONDS)
			.runCommand(command, ReadPreference.primary(), BsonDocument.class);
	}

	/**
	 * Send requests that need all privileges for the documents of a collection, but
	 * change nothing: nothing has the id, and no server knows the operator. A server
	 * checks the privileges first, and reports the unknown operator as an error of that
	 * one write.
	 * @throws com.mongodb.MongoException if a privilege is missing, or the collection
	 * cannot be read or written
	 */
	public void checkPrivileges() {
		BsonDocument nothing = doc(LockDocument.ID, text(NO_LOCK));
		collection().find(nothing).first();
		try {
			collection().updateOne(nothing, doc("$none", nothing), new UpdateOptions().upsert(true));
		}
		catch (MongoWriteException ex) {
			if (FailureTranslation.isDenied(ex)) {
				throw ex;
			}
		}
	}

	/**
	 * Return a part of this request that must not use up all of its time.
	 * @param limit the maximum time
	 * @return a request that ends after the limit, or when half of the remaining time has
	 * elapsed
	 */
	public StoreRequest part(Duration limit) {
		this.commands++;
		long now = System.nanoTime();
		return new StoreRequest(this.database, this.collection,
				now + Math.min(nanos(limit), Math.max(0, this.deadline - now) / 2));
	}

	/**
	 * Return whether a command was prepared before the last one.
	 */
	boolean isBegun() {
		return this.commands > 1;
	}

	boolean isOver() {
		return this.deadline - System.nanoTime() <= 0;
	}

	// The driver treats zero as unlimited; with one millisecond it reports the timeout.
	private long millisLeft() {
		return Math.max(1, TimeUnit.NANOSECONDS.toMillis(this.deadline - System.nanoTime()));
	}

}
