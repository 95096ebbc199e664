package dev.dblock.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * Addresses of the servers.
 *
 * @param mongodb the connection string of MongoDB
 * @param database the database that the benchmarks use
 * @param redis the address of Redis, or {@code null} if there is none
 */
record Addresses(String mongodb, String database, @Nullable String redis) {

	String requireRedis() {
		if (this.redis == null) {
			throw new IllegalStateException(RedisServer.MISSING);
		}
		return this.redis;
	}

}
