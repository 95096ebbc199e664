package dev.dblock.mongodb;

import java.time.Duration;

import dev.dblock.support.Durations;

import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * The settings of locks in MongoDB.
 *
 * @param collection the collection that contains the locks and nothing else
 * @param clockAllowance the maximum difference between the clocks that may decide about
 * one lock: those of the replica set's members at a failover, or those of several
 * {@code mongos} routers. A lock remains held for this time beyond its lease, and for a
 * thousandth of the lease (3.6 s of an hour), which allows for the drift between the
 * clocks of a client and of the server
 * @param retention how long the document of an unused lock is kept, at least a day
 * @param timeout the time limit of a request that has no limit of its own
 * @param statements the dialect in which requests are written
 * @param createIndexes whether the indexes that remove old documents are created
 * @param fenceTransactions whether transactions on the same servers are fenced by the
 * locks under which they run
 */
public record MongoLockSettings(String collection, Duration clockAllowance, Duration retention, Duration timeout,
		StatementDialect statements, boolean createIndexes, boolean fenceTransactions) {

	private static final Duration SHORTEST_RETENTION = Duration.ofDays(1);

	private static final Duration YEAR = Duration.ofDays(365);

	private static final Duration CENTURY = Duration.ofDays(36_500);

	/**
	 * Create settings with fenced transactions.
	 * @param collection the collection that contains the locks and nothing else
	 * @param clockAllowance the maximum difference between the clocks
	 * @param retention how long the document of an unused lock is kept
	 * @param timeout the time limit of a request that has no limit of its own
	 * @param statements the dialect in which requests are written
	 * @param createIndexes whether the indexes that remove old documents are created
	 * @throws IllegalArgumentException if one of the settings is invalid
	 */
	public MongoLockSettings(String collection, Duration clockAllowance, Duration retention, Duration timeout,
			StatementDialect statements, boolean createIndexes) {
		this(collection, clockAllowance, retention, timeout, statements, createIndexes, true);
	}

	/**
	 * The settings that an application with Spring Boot has by default: the collection
	 * {@code dblock_locks}, a clock allowance of 500 ms, a retention of seven days, and
	 * requests of at most 10 s.
	 * @return the settings
	 */
	public static MongoLockSettings defaults() {
		return new MongoLockSettings("dblock_locks", Duration.ofMillis(500), Duration.ofDays(7), Duration.ofSeconds(10),
				StatementDialect.AUTO, true);
	}

	/**
	 * Set the collection.
	 * @param collection the collection that contains the locks and nothing else
	 * @return a copy with this collection
	 */
	public MongoLockSettings withCollection(String collection) {
		return new MongoLockSettings(collection, this.clockAllowance, this.retention, this.timeout, this.statements,
				this.createIndexes, this.fenceTransactions);
	}

	/**
	 * Validate each setting individually.
	 * @throws IllegalArgumentException if the collection has no name or a name that a
	 * collection of an application cannot have, the clock allowance is negative, the
	 * retention is shorter than a day, or the timeout is not positive, and if the clock
	 * allowance or the timeout is longer than 365 days or the retention longer than
	 * 36,500 days
	 */
	public MongoLockSettings {
		Assert.isTrue(StringUtils.hasText(collection), "The lock collection must have a name");
		Assert.isTrue(collection.indexOf('$') < 0 && collection.indexOf('\0') < 0,
				() -> "The name of a collection must contain neither '$' nor the NUL character, but is '%s'"
					.formatted(collection));
		Assert.isTrue(!collection.startsWith("."),
				() -> "The name of a collection must not begin with a dot, but is '%s'".formatted(collection));
		Assert.isTrue(!isOfServer(collection),
				() -> ("No part of a collection's name between dots may be 'system', which is reserved for the server,"
						+ " but the name is '%s'")
					.formatted(collection));
		Assert.isTrue(!clockAllowance.isNegative(),
				() -> "The clock allowance must not be negative, but is " + Durations.written(clockAllowance));
		Assert.isTrue(retention.compareTo(SHORTEST_RETENTION) >= 0,
				() -> "The retention must be at least one day, but is " + Durations.written(retention));
		Assert.isTrue(!timeout.isNegative() && !timeout.isZero(),
				() -> "The timeout must be positive, but is " + Durations.written(timeout));
		refuseLonger("clock allowance", clockAllowance, YEAR);
		refuseLonger("retention", retention, CENTURY);
		refuseLonger("timeout", timeout, YEAR);
	}

	private static void refuseLonger(String setting, Duration value, Duration longest) {
		Assert.isTrue(value.compareTo(longest) <= 0, () -> "The %s must be at most %s, but is %s".formatted(setting,
				Durations.written(longest), Durations.written(value)));
	}

	// Also at the end, since the name of the fence collection is a continuation of it
	private static boolean isOfServer(String collection) {
		return (".%s.".formatted(collection)).contains(".system.");
	}

	/**
	 * The dialect in which requests are written for the server.
	 */
	public enum StatementDialect {

		/**
		 * Detected at first use.
		 */
		AUTO,

		/**
		 * Updates with an aggregation pipeline, decided by the server's own clock. For
		 * MongoDB 4.4 and later.
		 */
		PIPELINE,

		/**
		 * Classic update operators, with samples of the server's clock. For Amazon
		 * DocumentDB, older servers, and embedded replacements.
		 */
		CLASSIC

	}

}
