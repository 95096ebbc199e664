package dev.dblock.mongodb;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import dev.dblock.support.CallThreads;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The write concern with which the servers commit a transaction that specifies none:
 * since MongoDB 5.0 the majority, unless arbiters prevent that or an operator has set
 * another one, and before one member.
 * <p>
 * The servers are asked once, in a thread of its own and outside of any session, when the
 * first transaction depends on the answer. That transaction neither waits nor fails. A
 * user without the privilege {@code getDefaultRWConcern} gets an answer from what the
 * client knows of the servers.
 */
final class DefaultWriteConcern {

	private static final Logger logger = LoggerFactory.getLogger(DefaultWriteConcern.class);

	private static final Duration LONGEST_QUESTION = Duration.ofSeconds(10);

	private static final int WIRE_VERSION_5_0 = 13;

	private static final BsonValue MAJORITY = new BsonString("majority");

	private static final String ONE = "{w: 1}";

	private final LockDatabase locks;

	private final AtomicBoolean asked = new AtomicBoolean();

	DefaultWriteConcern(LockDatabase locks) {
		this.locks = locks;
	}

	/**
	 * Ask the servers, unless they have answered, and warn if a commit with their default
	 * can be rolled back.
	 */
	void warnIfWeak() {
		if (!this.asked.get() && this.asked.compareAndSet(false, true)) {
			CallThreads.execute(this::ask);
		}
	}

	private void ask() {
		try {
			MongoClient client = this.locks.client();
			String weak = (client != null) ? weakDefault(client) : null;
			if (weak != null) {
				logger.warn("Transactions under locks are committed with the server's default write concern, which is"
						+ " {}: an election can roll a transaction back after another holder has acquired the lock and"
						+ " read its data. Use \"majority\" in transactions under locks, by the TransactionOptions of"
						+ " the transaction manager, the w of the client, or the server's setDefaultRWConcern", weak);
			}
		}
		catch (RuntimeException ex) {
			// The next transaction asks again
			this.asked.set(false);
			logger.debug("The default write concern of the servers is not known", ex);
		}
	}

	private static @Nullable String weakDefault(MongoClient client) {
		try {
			return weakDefault(client.getDatabase("admin")
				.withTimeout(LONGEST_QUESTION.toMillis(), TimeUnit.MILLISECONDS)
				.runCommand(new BsonDocument("getDefaultRWConcern", new BsonInt32(1)), BsonDocument.class));
		}
		catch (MongoCommandException ex) {
			logger.debug("The default write concern of the servers is inferred", ex);
			return weakDefault(client.getClusterDescription());
		}
	}

	/**
	 * Return the default in the server's answer, which does not contain the implicit one
	 * of one member.
	 * @return the default; {@code null} if it is the majority
	 */
	static @Nullable String weakDefault(BsonDocument answer) {
		BsonDocument concern = answer.getDocument("defaultWriteConcern", new BsonDocument());
		BsonValue members = concern.get("w", new BsonInt32(1));
		if (MAJORITY.equals(members)) {
			return null;
		}
		return members.isNumber() ? "{w: " + members.asNumber().intValue() + "}" : concern.toJson();
	}

	/**
	 * Infer the default from versions and members. The servers apply the same rule to
	 * arbiters, but also count hidden members.
	 * @return the default; {@code null} if it is probably the majority
	 */
	static @Nullable String weakDefault(ClusterDescription cluster) {
		for (ServerDescription server : cluster.getServerDescriptions()) {
			boolean transactions = server.isOk() && server.getType() != ServerType.STANDALONE;
			if (transactions && server.getMaxWireVersion() < WIRE_VERSION_5_0) {
				return ONE + " before MongoDB 5.0, unless it was changed";
			}
			int arbiters = server.getArbiters().size();
			int others = server.getHosts().size() + server.getPassives().size();
			if (transactions && server.isPrimary() && arbiters > 0 && others <= (others + arbiters) / 2 + 1) {
				return ONE + " in a replica set with so many arbiters, unless it was changed";
			}
		}
		return null;
	}

}
