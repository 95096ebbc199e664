package dev.dblock.mongodb;

import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.dblock.mongodb.client.DedicatedDatabaseFactory;
import dev.dblock.mongodb.fence.Fences;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.util.Assert;

/**
 * The names of the collections that locks need: the lock collection, and the collection
 * of the fences beside it. MongoDB limits the number of bytes of a collection name
 * together with the name of its database.
 */
final class CollectionNames {

	private static final int LONGEST = 255;

	/** With the longest allowed database name, and the dot between the names. */
	private static final int LONGEST_IN_EVERY_DATABASE = LONGEST - 1 - 63;

	private CollectionNames() {
	}

	static List<String> of(MongoLockSettings settings) {
		String locks = settings.collection();
		return settings.fenceTransactions() ? List.of(locks, Fences.collectionBeside(locks)) : List.of(locks);
	}

	/**
	 * Refuse a name that is too long for a database. The factory is asked for its
	 * database only if the name does not fit into every database.
	 * @throws IllegalArgumentException if one of the names is too long
	 */
	static void check(MongoLockSettings settings, MongoDatabaseFactory factory) {
		for (String name : of(settings)) {
			if (bytes(name) > LONGEST_IN_EVERY_DATABASE) {
				check(settings.collection(), name, databaseOf(factory));
			}
		}
	}

	private static void check(String locks, String name, String database) {
		int most = LONGEST - 1 - bytes(database);
		Assert.isTrue(bytes(name) <= most,
				() -> ("The name '%s' is too long for the lock collection in the database '%s': collection names"
						+ " there may have at most %d bytes in UTF-8, and '%s' has %d")
					.formatted(locks, database, most, name, bytes(name)));
	}

	// Does not create the client of a dedicated factory
	static String databaseOf(MongoDatabaseFactory factory) {
		return (factory instanceof DedicatedDatabaseFactory dedicated) ? dedicated.databaseName()
				: factory.getMongoDatabase().getName();
	}

	private static int bytes(String name) {
		return name.getBytes(StandardCharsets.UTF_8).length;
	}

}
