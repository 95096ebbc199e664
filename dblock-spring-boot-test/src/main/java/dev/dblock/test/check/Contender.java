package dev.dblock.test.check;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;

import com.mongodb.client.MongoDatabase;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.EngineSettings;
import dev.dblock.test.check.Tally.Count;
import dev.dblock.test.check.Witness.Visit;

/**
 * Several engines in one process, which contend for locks with each other and with those
 * of the other process.
 */
final class Contender implements AutoCloseable {

	/** Longer than any pause of a process. */
	private static final LockOptions LEASE = LockOptions.lease(Duration.ofSeconds(30));

	private static final int ENGINES = 4;

	private static final int NAMES = 3;

	private static final long BETWEEN_RACES = 40;

	private static final long BETWEEN_JOBS = 150;

	/**
	 * How late a request may be; on a server that does not answer, the others are left
	 * out.
	 */
	private static final long LATEST = 15_000;

	private final Place place;

	private final List<DefaultLockEngine> engines = new ArrayList<>();

	private final List<LockTemplate> templates = new ArrayList<>();

	// With their handles, since a lock whose handle is no longer referenced is not
	// renewed
	private final Map<LockHandle, Visit> kept = new ConcurrentHashMap<>();

	Contender(CheckedServer server, Place place, UnaryOperator<MongoDatabase> change, EngineSettings.Poll poll) {
		this.place = place;
		for (int i = 0; i < ENGINES; i++) {
			MongoLockRepository repository = new MongoLockRepository(server.factory(change), place.settings());
			DefaultLockEngine engine = engine(repository, place, poll, i);
			this.engines.add(engine);
			this.templates.add(new DefaultLockTemplate(engine));
		}
	}

	static DefaultLockEngine engine(MongoLockRepository repository, Place place, EngineSettings.Poll poll, int number) {
		EngineSettings usual = EngineSettings.defaults("dblock-check-" + ProcessHandle.current().pid() + "-" + number);
		return new DefaultLockEngine(repository, new EngineSettings(place.prefix(), usual.acquirer(), usual.defaults(),
				usual.timeout(), poll, new EngineSettings.HandOff(0, Duration.ZERO)), List.of());
	}

	/** Short pauses, so that most requests meet those of other contenders. */
	static EngineSettings.Poll eager() {
		return new EngineSettings.Poll(Duration.ofMillis(5), Duration.ofMillis(20));
	}

	LockTemplate locks(int engine) {
		return this.templates.get(engine);
	}

	/**
	 * Request unused names, each at the same instant as all others. The winners keep them
	 * until this contender is closed.
	 * @param names how many names
	 * @param start the instant of the first one, by the clock of this machine
	 */
	Tally race(int names, long start) {
		return onEach((locks, tally) -> {
			Witness witness = new Witness(this.place.folder(), tally);
			for (int i = 0; i < names && inTime(start + i * BETWEEN_RACES); i++) {
				sleepUntil(start + i * BETWEEN_RACES);
				String name = "new-" + i;
				attempt(tally, () -> locks.tryAcquire(name, LEASE))
					.ifPresent((handle) -> this.kept.put(handle, witness.enter(name, handle.token())));
			}
		});
	}

	/**
	 * Work under a few locks for which all contend.
	 * @param millis how long
	 */
	Tally sections(long millis) {
		long end = System.nanoTime() + Duration.ofMillis(millis).toNanos();
		return onEach((locks, tally) -> {
			Witness witness = new Witness(this.place.folder(), tally);
			while (System.nanoTime() - end < 0) {
				String name = "section-" + ThreadLocalRandom.current().nextInt(NAMES);
				attempt(tally, () -> locks.tryAcquire(name, LEASE.waitUpTo(Duration.ofSeconds(2))))
					.ifPresent((handle) -> {
						Visit visit = witness.enter(name, handle.token());
						sleep(ThreadLocalRandom.current().nextInt(4));
						visit.leave();
						release(handle, tally);
					});
			}
		});
	}

	/**
	 * Run a job at its planned times, as an instance whose clock differs.
	 * @param times how many planned times
	 * @param start the first planned time, by the clock of the server
	 * @param late how far the clock of this instance is behind that of the server
	 */
	Tally jobs(int times, long start, long late) {
		return onEach((locks, tally) -> {
			Witness witness = new Witness(this.place.folder(), tally);
			for (int i = 0; i < times && inTime(start + i * BETWEEN_JOBS); i++) {
				long planned = start + i * BETWEEN_JOBS;
				sleepUntil(planned + late);
				int time = i;
				attempt(tally, () -> locks.tryAcquire("job", LEASE.claim(JobFiring.at(Instant.ofEpochMilli(planned)))))
					.ifPresent((handle) -> {
						witness.run("planned-" + time);
						release(handle, tally);
					});
			}
		});
	}

	private Tally onEach(BiConsumer<LockTemplate, Tally> work) {
		Tally tally = new Tally();
		List<Thread> threads = this.templates.stream()
			.map((locks) -> new Thread(() -> work.accept(locks, tally), "dblock-check"))
			.toList();
		threads.forEach(Thread::start);
		for (Thread thread : threads) {
			try {
				thread.join();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException("The check was interrupted", ex);
			}
		}
		return tally;
	}

	private static Optional<LockHandle> attempt(Tally tally, Attempt attempt) {
		try {
			return attempt.acquire();
		}
		catch (RuntimeException ex) {
			tally.failed(ex);
			return Optional.empty();
		}
	}

	private static void release(LockHandle handle, Tally tally) {
		try {
			if (!handle.release()) {
				tally.add(Count.LOST);
			}
		}
		catch (LockLostException ex) {
			tally.add(Count.LOST);
		}
		catch (RuntimeException ex) {
			tally.failed(ex);
		}
	}

	static void sleep(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("The check was interrupted", ex);
		}
	}

	private static boolean inTime(long instant) {
		return System.currentTimeMillis() - instant < LATEST;
	}

	private static void sleepUntil(long instant) {
		sleep(Math.max(0, instant - System.currentTimeMillis()));
	}

	@Override
	public void close() {
		this.kept.forEach((handle, visit) -> {
			visit.leave();
			release(handle, new Tally());
		});
		this.engines.forEach(DefaultLockEngine::close);
	}

	@FunctionalInterface
	private interface Attempt {

		Optional<LockHandle> acquire();

	}

	/**
	 * Where the contenders of both processes meet.
	 *
	 * @param collection the collection of the locks
	 * @param prefix the prefix of all names
	 * @param dialect the dialect
	 * @param folder the folder of the witness
	 */
	record Place(String collection, String prefix, StatementDialect dialect, Path folder) {

		MongoLockSettings settings() {
			MongoLockSettings usual = MongoLockSettings.defaults();
			return new MongoLockSettings(this.collection, usual.clockAllowance(), Duration.ofDays(1), usual.timeout(),
					this.dialect, true);
		}

	}

}
