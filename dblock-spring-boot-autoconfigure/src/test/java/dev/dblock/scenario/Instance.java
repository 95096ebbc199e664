package dev.dblock.scenario;

import java.time.Duration;
import java.util.List;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.WaitCounts;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.EngineSettings;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An engine with a client of its own, as each process of an application has one.
 */
final class Instance implements AutoCloseable {

	static final String COLLECTION = "dblock_locks";

	static final String FENCES = "dblock_fences";

	static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final LockOptions DEFAULTS = new LockOptions(Duration.ofSeconds(30), Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, null, null);

	private final SentCommands commands = new SentCommands();

	private final Losses losses = new Losses();

	private final MongoClient client;

	private final DefaultLockEngine engine;

	private final LockTemplate locks;

	/**
	 * Start an instance.
	 * @param name its name in its locks and in fail points
	 * @param uri the server
	 * @param database the database of the locks
	 * @param clockAllowance by how much the servers' clocks may differ
	 */
	Instance(String name, String uri, String database, Duration clockAllowance) {
		this(name, uri, database, clockAllowance, new EngineSettings.Poll(Duration.ofMillis(50), Duration.ofSeconds(1)),
				new EngineSettings.HandOff(10_000, Duration.ofMillis(100)));
	}

	Instance(String name, String uri, String database, Duration clockAllowance, EngineSettings.Poll poll,
			EngineSettings.HandOff handOff) {
		this.client = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(uri))
			.applicationName(name)
			.addCommandListener(this.commands)
			.build());
		MongoLockSettings settings = new MongoLockSettings(COLLECTION, clockAllowance, Duration.ofDays(1), TIMEOUT,
				StatementDialect.AUTO, true);
		this.engine = new DefaultLockEngine(
				new MongoLockRepository(new SimpleMongoClientDatabaseFactory(this.client, database), settings),
				new EngineSettings("", name, DEFAULTS, TIMEOUT, poll, handOff), List.of(this.losses));
		this.locks = new DefaultLockTemplate(this.engine);
	}

	DefaultLockEngine engine() {
		return this.engine;
	}

	LockTemplate locks() {
		return this.locks;
	}

	/**
	 * Wait until its waiters are notified of releases: then they ask without a signal
	 * only at the end of the holder's lease, or after a long time without signals.
	 */
	void awaitSignals() {
		Instances.eventually().until(() -> WaitCounts.isNotifiedOfReleases(this.engine));
	}

	/**
	 * Assert that waiters asked when a lease ended, and none because of a long time
	 * without signals.
	 */
	void assertWokenAtTheEndOfALease() {
		assertThat(WaitCounts.of(this.engine)).containsEntry("SLOW_POLL", 0L)
			.hasEntrySatisfying("EXPIRY", (count) -> assertThat(count).isPositive());
	}

	SentCommands commands() {
		return this.commands;
	}

	Losses losses() {
		return this.losses;
	}

	@Override
	public void close() {
		this.engine.close();
		this.client.close();
	}

}
