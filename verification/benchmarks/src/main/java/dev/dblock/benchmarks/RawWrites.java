package dev.dblock.benchmarks;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Updates;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Two writes acknowledged by a majority, without any condition and without any index
 * except that of {@code _id}. An attempt to enter is one {@code findAndModify} that
 * changes nothing.
 */
final class RawWrites implements Locks {

	private static final FindOneAndUpdateOptions UPSERT = new FindOneAndUpdateOptions().upsert(true)
		.returnDocument(ReturnDocument.AFTER);

	private final MongoCollection<Document> collection;

	/**
	 * Each write has a new number, since a write that changes nothing would not count as
	 * one. The random start makes the numbers of this process differ from those of
	 * another.
	 */
	private final AtomicLong numbers = new AtomicLong(ThreadLocalRandom.current().nextLong());

	private final @Nullable MongoClient own;

	RawWrites(MongoDatabase database) {
		this(database, null);
	}

	private RawWrites(MongoDatabase database, @Nullable MongoClient own) {
		this.collection = database.getCollection("raw_writes").withWriteConcern(WriteConcern.MAJORITY);
		this.own = own;
	}

	/**
	 * Create writes that use a separate client, which does not retry writes.
	 */
	static RawWrites unrepeated(Addresses addresses) {
		MongoClient client = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(addresses.mongodb()))
			.retryWrites(false)
			.build());
		return new RawWrites(client.getDatabase(addresses.database()), client);
	}

	@Override
	public Section enter(String name) {
		long number = this.numbers.incrementAndGet();
		this.collection.findOneAndUpdate(Filters.eq(name), Updates.set("entered", number), UPSERT);
		return () -> this.collection.updateOne(Filters.eq(name), Updates.set("left", number));
	}

	@Override
	public @Nullable Section tryEnter(String name) {
		this.collection.findOneAndUpdate(Filters.eq(name), Updates.set("tried", true), UPSERT);
		return null;
	}

	@Override
	public void close() {
		if (this.own != null) {
			this.own.close();
		}
	}

}
