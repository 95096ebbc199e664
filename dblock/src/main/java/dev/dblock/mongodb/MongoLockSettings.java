package dev.dblock.mongodb;

import java.time.Duration;

import dev.dblock.Durations;
import dev.dblock.mongodb.request.StatementDialect;

import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * How locks are kept in MongoDB.
 *
 * @param collection the collection that holds the locks and nothing else
 * @param clockAllowance by how much the clocks that may decide about one lock can differ:
 * those of the replica set's members at a failover, those of several {@code mongos}
 * routers. A name stays taken for so much longer than its lease, and for a thousandth of
 * the lease (3.6 s of an hour), by which the clocks of a client and of the server may
 * drift apart
 * @param retention how long the document of a lock that nobody uses any more is kept, at
 * least a day
 * @param timeout how long a request may take that comes without a limit of its own
 * @param statements in which form requests are written
 * @param createIndexes whether the indexes that remove old documents are created
 * @param fenceTransactions whether transactions on the same servers are fenced by the
 * locks that they stand under
 */
public record MongoLockSettings(String collection, Duration clockAllowance, Duration retention, Duration timeout,
		StatementDialect statements, boolean createIndexes, boolean fenceTransactions) {

	private static final Duration SHORTEST_RETENTION = Duration.ofDays(1);

	/**
	 * Settings with which transactions are fenced.
	 * @param collection the collection that holds the locks and nothing else
	 * @param clockAllowance by how much the clocks can differ
	 * @param retention how long the document of a lock that nobody uses any more is kept
	 * @param timeout how long a request may take that comes without a limit of its own
	 * @param statements in which form requests are written
	 * @param createIndexes whether the indexes that remove old documents are created
	 * @throws IllegalArgumentException as with all settings
	 */
	public MongoLockSettings(String collection, Duration clockAllowance, Duration retention, Duration timeout,
			StatementDialect statements, boolean createIndexes) {
		this(collection, clockAllowance, retention, timeout, statements, createIndexes, true);
	}

	/**
	 * Set the collection.
	 * @param collection the collection that holds the locks and nothing else
	 * @return a copy with it
	 */
	public MongoLockSettings withCollection(String collection) {
		return new MongoLockSettings(collection, this.clockAllowance, this.retention, this.timeout, this.statements,
				this.createIndexes, this.fenceTransactions);
	}

	/**
	 * Set the form of the requests.
	 * @param statements in which form requests are written
	 * @return a copy with it
	 */
	public MongoLockSettings withStatements(StatementDialect statements) {
		return new MongoLockSettings(this.collection, this.clockAllowance, this.retention, this.timeout, statements,
				this.createIndexes, this.fenceTransactions);
	}

	/**
	 * Check each setting by itself.
	 * @throws IllegalArgumentException when the collection has no name or one that no
	 * collection of an application's can have, the clock allowance is negative, the
	 * retention is shorter than a day, or the timeout is not positive
	 */
	public MongoLockSettings {
		Assert.isTrue(StringUtils.hasText(collection), "The collection of the locks must have a name");
		Assert.isTrue(collection.indexOf('$') < 0 && collection.indexOf('\0') < 0,
				() -> "The name of a collection must have neither '$' nor the NUL character in it, but is '%s'"
					.formatted(collection));
		Assert.isTrue(!collection.startsWith("."),
				() -> "The name of a collection must not begin with a dot, but is '%s'".formatted(collection));
		Assert.isTrue(!isOfServer(collection),
				() -> "No part of a collection's name between dots may be 'system', which is the server's own, but the name is '%s'"
					.formatted(collection));
		Assert.isTrue(!clockAllowance.isNegative(),
				() -> "The clock allowance must not be negative, but is " + Durations.written(clockAllowance));
		Assert.isTrue(retention.compareTo(SHORTEST_RETENTION) >= 0,
				() -> "The retention must be a day or more, but is " + Durations.written(retention));
		Assert.isTrue(!timeout.isNegative() && !timeout.isZero(),
				() -> "The timeout must be positive, but is " + Durations.written(timeout));
	}

	// At the end too: the name of the fences goes on behind it
	private static boolean isOfServer(String collection) {
		return (".%s.".formatted(collection)).contains(".system.");
	}

}
