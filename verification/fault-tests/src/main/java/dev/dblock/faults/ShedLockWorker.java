package dev.dblock.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.faults.ShedLockSections.SectionRegister;
import dev.dblock.shedlock.DblockLockProvider;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;

/**
 * Process that shares the sections of a rolling update with others. Its leases are so
 * long that none ends during a section.
 */
final class ShedLockWorker {

	private static final String DATABASE = "shedlock-sections";

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final LockOptions DEFAULTS = new LockOptions(Duration.ofSeconds(30), Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, "one of the sections", null);

	private static final long PAUSE_MILLIS = 2;

	private final int process;

	private final long target;

	private final LockProvider provider;

	private final SectionRegister register;

	private final AtomicLong entered = new AtomicLong();

	private final AtomicLong overlaps = new AtomicLong();

	private ShedLockWorker(int process, long target, LockProvider provider, SectionRegister register) {
		this.process = process;
		this.target = target;
		this.provider = provider;
		this.register = register;
	}

	/**
	 * Whether a process is one from before the update.
	 */
	static boolean isOld(int process) {
		return process % 2 == 0;
	}

	public static void main(String[] args) throws Exception {
		int process = Integer.parseInt(args[2]);
		SectionRegister register = new SectionRegister(Path.of(args[0]), Integer.parseInt(args[3]));
		try (MongoClient mongo = MongoClients.create(args[1]);
				DefaultLockEngine engine = MillionWorker.engine(mongo, DATABASE, process + 1, DEFAULTS)) {
			LockProvider old = new MongoLockProvider(mongo.getDatabase(DATABASE));
			LockProvider provider = isOld(process) ? old
					: new DblockLockProvider(new DefaultLockTemplate(engine)).beside(old);
			ShedLockWorker worker = new ShedLockWorker(process, Long.parseLong(args[5]), provider, register);
			List<Thread> threads = IntStream.range(0, Integer.parseInt(args[4]))
				.mapToObj((index) -> new Thread(() -> worker.work(index + 1), "section-" + (index + 1)))
				.toList();
			threads.forEach(Thread::start);
			for (Thread thread : threads) {
				thread.join();
			}
			register.report(process, worker.entered.get(), worker.overlaps.get());
		}
	}

	private void work(int thread) {
		long me = (this.process + 1) * 1000L + thread;
		boolean more = true;
		while (more) {
			Optional<SimpleLock> lock = this.provider
				.lock(new LockConfiguration(ClockProvider.now(), "sections", LEASE, Duration.ZERO));
			if (lock.isPresent()) {
				more = section(me);
				lock.get().unlock();
			}
			pause();
		}
	}

	private boolean section(long me) {
		if (this.register.occupant() != 0) {
			this.overlaps.incrementAndGet();
		}
		this.register.occupant(me);
		long count = this.register.count();
		boolean more = count < this.target;
		if (more) {
			this.entered.incrementAndGet();
			Thread.yield();
			this.register.count(count + 1);
		}
		if (this.register.occupant() != me) {
			this.overlaps.incrementAndGet();
		}
		this.register.occupant(0);
		return more;
	}

	private static void pause() {
		try {
			TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
