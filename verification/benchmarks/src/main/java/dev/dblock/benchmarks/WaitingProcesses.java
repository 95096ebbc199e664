package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineState.ReleaseNews;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.settings.EngineSettings;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

/**
 * Engines that each wait for a lock of their own, as so many processes would. They share
 * this JVM and a client: the cost for the servers is that of the change streams and of
 * the requests.
 */
final class WaitingProcesses implements AutoCloseable {

	private static final Duration LIMIT = Duration.ofMinutes(2);

	/** After it, no engine listens any more, since none of the locks was released. */
	private static final Duration QUIET = Duration.ofSeconds(12);

	private final List<DefaultLockEngine> engines = new ArrayList<>();

	private final List<Thread> threads = new ArrayList<>();

	/**
	 * Let engines wait, and return once all of them learn of releases as they should.
	 * @param client the client, with a connection for each engine
	 * @param database the database of the locks
	 * @param count the number of engines
	 * @param mode how they learn of releases
	 */
	WaitingProcesses(MongoClient client, String database, int count, Mode mode) throws InterruptedException {
		EngineSettings defaults = EngineSettings.defaults("waiting");
		EngineSettings settings = new EngineSettings(defaults.namePrefix(), defaults.acquirer(), defaults.defaults(),
				defaults.timeout(), new EngineSettings.Poll(defaults.poll().minInterval(),
						defaults.poll().maxInterval(), mode == Mode.POLLING),
				defaults.handOff());
		// The index is there, and so many requests for it at once would only cost
		MongoLockSettings usual = MongoLockSettings.defaults();
		MongoLockSettings store = new MongoLockSettings(usual.collection(), usual.clockAllowance(), usual.retention(),
				usual.timeout(), usual.statements(), false);
		SimpleMongoClientDatabaseFactory factory = new SimpleMongoClientDatabaseFactory(client, database);
		for (int i = 0; i < count; i++) {
			String name = name(i);
			DefaultLockEngine engine = new DefaultLockEngine(new MongoLockRepository(factory, store), settings,
					List.of());
			Thread thread = new Thread(() -> waitFor(name, engine), name);
			this.engines.add(engine);
			this.threads.add(thread);
			thread.start();
		}
		if (mode == Mode.QUIET) {
			TimeUnit.MILLISECONDS.sleep(QUIET.toMillis());
		}
		ReleaseNews wanted = (mode == Mode.LISTENING) ? ReleaseNews.STREAM : ReleaseNews.POLL;
		long end = System.nanoTime() + LIMIT.toNanos();
		while (!this.engines.stream().allMatch((engine) -> engine.state().releases() == wanted)) {
			if (System.nanoTime() > end) {
				throw new IllegalStateException("Not all processes wait by " + wanted + " after " + LIMIT);
			}
			TimeUnit.MILLISECONDS.sleep(100);
		}
	}

	/**
	 * Return a client without a limit for connections, since each change stream or cursor
	 * may occupy one.
	 */
	static MongoClient client(Addresses addresses) {
		return MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(addresses.mongodb()))
			.applyToConnectionPoolSettings((pool) -> pool.maxSize(0))
			.build());
	}

	/**
	 * Acquire the locks that engines wait for, for longer than any measurement.
	 */
	static List<LockHandle> hold(LockTemplate locks, int count) {
		return IntStream.range(0, count)
			.mapToObj((i) -> locks.acquire(name(i), LockOptions.lease(Duration.ofHours(2)).autoRenew(false)))
			.toList();
	}

	private static String name(int index) {
		return "waited-for-" + index;
	}

	private static void waitFor(String name, DefaultLockEngine engine) {
		try {
			new DefaultLockTemplate(engine).acquire(name, LockOptions.defaults().waitUpTo(Duration.ofHours(1)));
			throw new IllegalStateException("The lock '" + name + "' was not held");
		}
		catch (LockShutdownException ex) {
			// The measurement is over
		}
	}

	@Override
	public void close() {
		List<Thread> closing = this.engines.stream().map((engine) -> new Thread(engine::close)).toList();
		closing.forEach(Thread::start);
		closing.forEach(WaitingProcesses::join);
		this.threads.forEach(WaitingProcesses::join);
	}

	private static void join(Thread thread) {
		try {
			thread.join(LIMIT.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * How the engines learn of releases.
	 */
	enum Mode {

		/** By change streams, for the first ten seconds of the wait. */
		LISTENING,

		/** As by default, when none of the locks was released for ten seconds. */
		QUIET,

		/** By polling, as they are set. */
		POLLING

	}

}
