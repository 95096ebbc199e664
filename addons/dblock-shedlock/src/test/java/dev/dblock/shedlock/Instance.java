package dev.dblock.shedlock;

import java.time.Duration;
import java.util.List;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.EngineSettings;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

/**
 * One instance of an application, with a client of its own and the locks of both
 * libraries in one database. The servers' clocks do not differ, so an expired lock is
 * free at once.
 */
final class Instance implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final LockOptions DEFAULTS = new LockOptions(Duration.ofSeconds(30), Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, null, null);

	private final MongoClient client;

	private final DefaultLockEngine engine;

	private final LockTemplate locks;

	private final MongoLockProvider shedLock;

	Instance(String name, String uri, String database) {
		this.client = MongoClients.create(uri);
		MongoLockSettings settings = new MongoLockSettings("dblock_locks", Duration.ZERO, Duration.ofDays(1), TIMEOUT,
				StatementDialect.AUTO, true);
		this.engine = new DefaultLockEngine(
				new MongoLockRepository(new SimpleMongoClientDatabaseFactory(this.client, database), settings),
				new EngineSettings("", name, DEFAULTS, TIMEOUT,
						new EngineSettings.Poll(Duration.ofMillis(50), Duration.ofSeconds(1)),
						new EngineSettings.HandOff(10_000, Duration.ofMillis(100))),
				List.of());
		this.locks = new DefaultLockTemplate(this.engine);
		this.shedLock = new MongoLockProvider(this.client.getDatabase(database));
		// Connected, and the dialect detected, before a short lease begins
		this.locks.acquire("first of " + name).release();
	}

	LockTemplate locks() {
		return this.locks;
	}

	DblockLockProvider dblock() {
		return new DblockLockProvider(this.locks);
	}

	DblockLockProvider keepAlive() {
		return new DblockLockProvider(this.locks, true);
	}

	MongoLockProvider shedLock() {
		return this.shedLock;
	}

	@Override
	public void close() {
		this.engine.close();
		this.client.close();
	}

}
