package dev.dblock.faults;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockHandle;
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
import org.awaitility.Awaitility;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

/**
 * Process that shares the million sections with others.
 */
final class MillionWorker {

	static final String DATABASE = "million";

	private static final String LOCK = "million";

	/**
	 * The sections of a process are added to the document at the first section after each
	 * grant of the server, and otherwise this many at a time.
	 */
	private static final int BATCH = 500;

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final LockOptions DEFAULTS = new LockOptions(Duration.ofSeconds(30), Duration.ofMinutes(10),
			Duration.ZERO, Duration.ZERO, true, WhenLost.NOTIFY, "one of a million sections", null);

	private final int process;

	private final long target;

	private final MillionRegister register;

	private final MillionCounter counter;

	private final DefaultLockEngine engine;

	private final LockTemplate locks;

	/**
	 * This and the following fields are changed only under the lock, which also makes the
	 * changes visible. A second thread in a section would corrupt them.
	 */
	private long sections;

	private long pending;

	private String lastGrant = "";

	private long grants;

	private long fromOtherProcesses;

	private long documentWrites;

	private long earlyPolls;

	private boolean notified;

	private final AtomicLong overlaps = new AtomicLong();

	private final AtomicLong staleTokens = new AtomicLong();

	private final AtomicLong errors = new AtomicLong();

	private MillionWorker(int process, long target, MillionRegister register, MillionCounter counter,
			DefaultLockEngine engine) {
		this.process = process;
		this.target = target;
		this.register = register;
		this.counter = counter;
		this.engine = engine;
		this.locks = new DefaultLockTemplate(engine);
	}

	public static void main(String[] args) throws Exception {
		Path folder = Path.of(args[0]);
		String uri = args[1];
		int process = Integer.parseInt(args[2]);
		int threads = Integer.parseInt(args[3]);
		long target = Long.parseLong(args[4]);
		MongoClientSettings client = MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(uri))
			.writeConcern(WriteConcern.MAJORITY)
			.build();
		try (MongoClient mongo = MongoClients.create(client);
				DefaultLockEngine engine = engine(mongo, DATABASE, process, DEFAULTS)) {
			MillionCounter counter = new MillionCounter(
					mongo.getDatabase(DATABASE).getCollection(MillionCounter.COLLECTION));
			MillionWorker worker = new MillionWorker(process, target, new MillionRegister(folder.resolve("register")),
					counter, engine);
			worker.run(threads);
			worker.write(folder.resolve("worker-" + process + ".properties"));
		}
	}

	/**
	 * Create the engine of a process that shares sections with others.
	 * @param process the number of the process, from 1
	 */
	static DefaultLockEngine engine(MongoClient mongo, String database, int process, LockOptions defaults) {
		return new DefaultLockEngine(
				new MongoLockRepository(new SimpleMongoClientDatabaseFactory(mongo, database),
						new MongoLockSettings("dblock_locks", Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT,
								StatementDialect.AUTO, true)),
				new EngineSettings("", "worker-" + process, defaults, TIMEOUT,
						new EngineSettings.Poll(Duration.ofMillis(50), Duration.ofSeconds(1)),
						new EngineSettings.HandOff(10_000, Duration.ofMillis(100))),
				List.of());
	}

	private void run(int threads) throws InterruptedException {
		List<Thread> started = IntStream.range(0, threads)
			.mapToObj((index) -> new Thread(() -> work(index + 1), "section-" + (index + 1)))
			.toList();
		started.forEach(Thread::start);
		awaitNews(started);
		for (Thread thread : started) {
			thread.join();
		}
		flush();
	}

	/**
	 * Wait until the process is notified of releases. Until then, a waiter polls.
	 */
	private void awaitNews(List<Thread> threads) {
		Awaitility.await().forever().pollInSameThread().pollInterval(Duration.ofMillis(1)).until(() -> {
			this.notified = WaitCounts.isNotifiedOfReleases(this.engine);
			this.earlyPolls = WaitCounts.polls(this.engine);
			return this.notified || threads.stream().noneMatch(Thread::isAlive);
		});
	}

	private void work(int thread) {
		long me = this.process * 1000L + thread;
		try {
			boolean more = true;
			while (more) {
				try (LockHandle handle = this.locks.acquire(LOCK)) {
					more = section(handle, me);
				}
			}
		}
		catch (RuntimeException ex) {
			this.errors.incrementAndGet();
			new IllegalStateException("section " + me + " failed", ex).printStackTrace();
		}
	}

	private boolean section(LockHandle handle, long me) {
		enter(me);
		long token = handle.token();
		if (token <= this.register.highestToken()) {
			this.staleTokens.incrementAndGet();
		}
		this.register.highestToken(token);
		long count = this.register.count();
		boolean more = count < this.target;
		if (more) {
			this.sections++;
			this.pending++;
			if (isFirstOfGrant(handle) || this.pending >= BATCH) {
				addToDocument(token);
			}
			this.register.count(count + 1);
		}
		handle.ensureHeld();
		leave(me);
		return more;
	}

	private void enter(long me) {
		if (this.register.occupant() != 0) {
			this.overlaps.incrementAndGet();
		}
		this.register.occupant(me);
		if (this.register.lastProcess() != this.process) {
			this.fromOtherProcesses++;
			this.register.lastProcess(this.process);
		}
	}

	private void leave(long me) {
		if (this.register.occupant() != me) {
			this.overlaps.incrementAndGet();
		}
		this.register.occupant(0);
	}

	private boolean isFirstOfGrant(LockHandle handle) {
		String grant = WaitCounts.grantOf(handle);
		if (grant.equals(this.lastGrant)) {
			return false;
		}
		this.lastGrant = grant;
		this.grants++;
		return true;
	}

	private void addToDocument(long token) {
		if (!this.counter.add(this.pending, token)) {
			this.staleTokens.incrementAndGet();
		}
		this.pending = 0;
		this.documentWrites++;
	}

	private void flush() {
		try (LockHandle handle = this.locks.acquire(LOCK)) {
			addToDocument(handle.token());
		}
	}

	private void write(Path file) throws IOException {
		Properties result = new Properties();
		result.setProperty("sections", Long.toString(this.sections));
		result.setProperty("grants", Long.toString(this.grants));
		result.setProperty("fromOtherProcesses", Long.toString(this.fromOtherProcesses));
		result.setProperty("documentWrites", Long.toString(this.documentWrites));
		result.setProperty("overlaps", Long.toString(this.overlaps.get()));
		result.setProperty("staleTokens", Long.toString(this.staleTokens.get()));
		result.setProperty("errors", Long.toString(this.errors.get()));
		WaitCounts.of(this.engine)
			.forEach((cause, count) -> result.setProperty("asked." + cause, Long.toString(count)));
		result.setProperty("notified", this.notified ? "1" : "0");
		result.setProperty("latePolls", Long.toString(WaitCounts.polls(this.engine) - this.earlyPolls));
		result.setProperty("queuesLeft", Integer.toString(WaitCounts.queues(this.engine)));
		try (Writer writer = Files.newBufferedWriter(file)) {
			result.store(writer, null);
		}
	}

}
