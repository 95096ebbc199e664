package dev.dblock.benchmarks;

import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's plain lock, renewed by its watchdog, with all defaults.
 */
final class RedissonLocks implements Locks {

	private final RedissonClient client;

	RedissonLocks(String uri) {
		Config config = new Config();
		config.useSingleServer().setAddress(uri);
		this.client = Redisson.create(config);
	}

	@Override
	public Section enter(String name) throws InterruptedException {
		RLock lock = this.client.getLock(name);
		lock.lockInterruptibly();
		return lock::unlock;
	}

	@Override
	public @Nullable Section tryEnter(String name) {
		RLock lock = this.client.getLock(name);
		return lock.tryLock() ? lock::unlock : null;
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
