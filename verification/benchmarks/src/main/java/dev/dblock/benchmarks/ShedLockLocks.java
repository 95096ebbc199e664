package dev.dblock.benchmarks;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoDatabase;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import org.jspecify.annotations.Nullable;

/**
 * Locks of a provider of ShedLock. The provider does not wait, so a caller that has to
 * wait retries every 50 ms.
 */
final class ShedLockLocks implements Locks {

	private static final Duration AT_MOST = Duration.ofSeconds(30);

	private static final long POLL_MILLIS = 50;

	private final LockProvider provider;

	private final @Nullable Locks locks;

	/**
	 * Create locks.
	 * @param provider the provider
	 * @param locks what the provider uses, to be closed with it
	 */
	ShedLockLocks(LockProvider provider, @Nullable Locks locks) {
		this.provider = provider;
		this.locks = locks;
	}

	static LockProvider mongo(MongoDatabase database) {
		return new MongoLockProvider(database.getCollection("shedlock").withWriteConcern(WriteConcern.MAJORITY));
	}

	@Override
	public Section enter(String name) throws InterruptedException {
		Section section = tryEnter(name);
		while (section == null) {
			TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
			section = tryEnter(name);
		}
		return section;
	}

	@Override
	public @Nullable Section tryEnter(String name) {
		SimpleLock lock = this.provider.lock(new LockConfiguration(Instant.now(), name, AT_MOST, Duration.ZERO))
			.orElse(null);
		return (lock != null) ? lock::unlock : null;
	}

	@Override
	public void close() {
		// The client belongs to the lab
		if (this.locks != null) {
			this.locks.close();
		}
	}

}
