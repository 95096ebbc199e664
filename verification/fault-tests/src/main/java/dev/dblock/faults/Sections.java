package dev.dblock.faults;

import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import dev.dblock.LockContext;
import dev.dblock.LockException;
import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Sections that the threads of a worker run.
 */
final class Sections {

	private static final Logger logger = LoggerFactory.getLogger(Sections.class);

	private static final Duration WAIT = Duration.ofSeconds(20);

	private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private static final long PAUSE_AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final LockTemplate locks;

	private final AnnotatedSections annotated;

	private final DataWriter data;

	private final Stamps stamps;

	private final Records records;

	private final Set<OpenAttempt> open = ConcurrentHashMap.newKeySet();

	private final Mix mix;

	private final AtomicInteger running = new AtomicInteger();

	private final int worker;

	Sections(ApplicationContext application, int worker, Stamps stamps, Records records) {
		this.worker = worker;
		this.locks = application.getBean(LockTemplate.class);
		this.annotated = application.getBean(AnnotatedSections.class);
		SectionData data = new SectionData(application.getBean(MongoTemplate.class),
				new TransactionTemplate(application.getBean(PlatformTransactionManager.class)));
		this.data = new DataWriter(data, application.getBean(TransactionMoments.class), stamps, worker);
		this.mix = application.getBean(Mix.class);
		this.stamps = stamps;
		this.records = records;
	}

	void observeAll() {
		this.open.forEach(OpenAttempt::observe);
	}

	boolean areRunning() {
		return this.running.get() > 0;
	}

	/**
	 * Run sections until all processes are to stop.
	 * @param random the source of randomness
	 * @param slow whether to run sections with the long lease
	 */
	void run(Random random, boolean slow) {
		while (!this.stamps.isStopped()) {
			LockName lock = LockName.ALL.get(slow ? LockName.ALL.size() - 1 : random.nextInt(LockName.ALL.size() - 1));
			Kind kind = (!slow && chance(random, this.mix.extended())) ? Kind.EXTENDED
					: Kind.values()[random.nextInt(Kind.values().length - 1)];
			OpenAttempt attempt = new OpenAttempt(this.records.add(), this.stamps, LockName.ALL.indexOf(lock), kind);
			this.open.add(attempt);
			Outcome outcome = attempt(attempt, lock, kind, random, slow);
			attempt.end(outcome);
			this.open.remove(attempt);
			if (outcome == Outcome.FAILED) {
				LockSupport.parkNanos(PAUSE_AFTER_FAILURE_NANOS);
			}
			else if (kind == Kind.TRY) {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(20)));
			}
		}
	}

	private Outcome attempt(OpenAttempt attempt, LockName lock, Kind kind, Random random, boolean slow) {
		AnnotatedSections.Body body = (handle) -> section(attempt, handle, lock, kind, random, slow);
		LockOptions options = LockOptions.lease(lock.lease()).waitUpTo(kind.isWaiting() ? WAIT : Duration.ZERO);
		try {
			switch (kind) {
				case ACQUIRE, EXTENDED -> {
					try (LockHandle handle = this.locks.acquire(lock.name(), options)) {
						body.run(handle);
					}
				}
				case TRY -> {
					LockHandle handle = this.locks.tryAcquire(lock.name(), options).orElse(null);
					if (handle == null) {
						return Outcome.UNAVAILABLE;
					}
					try (handle) {
						body.run(handle);
					}
				}
				case EXECUTE ->
					this.locks.execute(lock.name(), options, () -> body.run(LockContext.current().orElseThrow()));
				case ANNOTATED -> {
					if (slow) {
						this.annotated.withLongLease(lock.name(), body);
					}
					else {
						this.annotated.withShortLease(lock.name(), body);
					}
				}
			}
			return Outcome.RELEASED;
		}
		catch (LockUnavailableException ex) {
			return Outcome.UNAVAILABLE;
		}
		catch (LockLostException ex) {
			return Outcome.LOST;
		}
		catch (LockShutdownException | LockInterruptedException ex) {
			return Outcome.STOPPED;
		}
		catch (DataAccessException | LockException ex) {
			logger.debug("An attempt to get the lock '{}' failed", lock.name(), ex);
			return Outcome.FAILED;
		}
	}

	private void section(OpenAttempt attempt, LockHandle handle, LockName lock, Kind kind, Random random,
			boolean slow) {
		this.running.incrementAndGet();
		try {
			attempt.enter(handle);
			Writing writing = chance(random, this.mix.writing())
					? this.mix.writings().get(random.nextInt(this.mix.writings().size())) : Writing.NONE;
			long value = this.data.read(writing, lock.name(), handle.token());
			if (kind == Kind.EXTENDED) {
				handle.extend(lock.extendedLease());
				// Renewals must not shorten it
				handle.renew();
			}
			if (value >= 0 && !slow && chance(random, this.mix.slowly())) {
				holdSlowly(attempt, handle, writing, random);
			}
			else {
				hold(attempt, handle, writing, holdNanos(random, kind, slow, lock.lease()));
			}
			if (value >= 0) {
				this.data.write(attempt, writing, lock.name(), handle.token(), value + 1,
						!slow && chance(random, this.mix.paused()), random);
			}
		}
		finally {
			attempt.leave();
			this.running.decrementAndGet();
		}
	}

	/**
	 * Hold the lock for a while between reading and writing, so that a fault can find
	 * this section there.
	 */
	private void holdSlowly(OpenAttempt attempt, LockHandle handle, Writing writing, Random random) {
		this.stamps.beginWrite(this.worker, Moment.before(writing));
		try {
			hold(attempt, handle, writing, DataWriter.slowNanos(random));
		}
		finally {
			this.stamps.endWrite(this.worker, Moment.before(writing));
		}
	}

	private static boolean chance(Random random, double percent) {
		return random.nextDouble() * 100 < percent;
	}

	private long holdNanos(Random random, Kind kind, boolean slow, Duration lease) {
		if (kind == Kind.EXTENDED) {
			return TimeUnit.MILLISECONDS.toNanos(random.nextInt(1000));
		}
		if (slow) {
			int percent = random.nextInt(100);
			// A section that lasts longer than an election shows the effect of the
			// election on a lease
			return TimeUnit.MILLISECONDS.toNanos((percent < 50) ? random.nextInt(100)
					: (percent < 80) ? 1000 + random.nextInt(2000) : 5000 + random.nextInt(11000));
		}
		if (chance(random, this.mix.longer())) {
			return lease.toNanos() / 2 + random.nextLong(lease.toNanos());
		}
		return TimeUnit.MICROSECONDS.toNanos(random.nextInt(chance(random, this.mix.brisk()) ? 10_000 : 500));
	}

	/**
	 * Work as long as the lock is held. A section that writes at its end relies on the
	 * lock without checking it.
	 */
	private void hold(OpenAttempt attempt, LockHandle handle, Writing writing, long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0 && !this.stamps.isStopped(); left = end - System.nanoTime()) {
			LockSupport.parkNanos(Math.min(left, LOOK_NANOS));
			if (!attempt.observe() && writing == Writing.NONE) {
				handle.ensureHeld();
			}
		}
	}

}
