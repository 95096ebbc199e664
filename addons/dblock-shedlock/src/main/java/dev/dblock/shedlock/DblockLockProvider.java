package dev.dblock.shedlock;

import java.time.Duration;
import java.util.Optional;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.execution.Hold;
import dev.dblock.job.JobRefusal;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;

/**
 * ShedLock's provider of the locks of dblock. Thread-safe.
 * <p>
 * A lock is acquired without waiting. {@code lockAtMostFor} is its lease, and
 * {@code lockAtLeastFor} its minimum hold. Both count from the grant, by the server's
 * clock, so the clocks of the instances do not matter. The lease is not renewed, unless
 * the provider keeps its locks alive. A lock belongs to one acquisition: a late
 * {@code unlock} or {@code extend} does not affect the next holder.
 * <p>
 * An extension has ShedLock's meaning: the new {@code lockAtMostFor} and
 * {@code lockAtLeastFor} count from the extension and replace the earlier ones, so an
 * extension can shorten a lock. If the provider keeps its locks alive, an extension is a
 * minimum, and renewal continues.
 * <p>
 * {@link dev.dblock.LockContext} finds the lock in the thread that acquired it, and
 * transactions that this thread begins meanwhile depend on the lock. A lock that is
 * released inside a transaction is kept until the transaction has ended.
 */
public final class DblockLockProvider implements ExtensibleLockProvider {

	private static final Logger logger = LoggerFactory.getLogger(DblockLockProvider.class);

	/** ShedLock allows zero, and dblock has no empty lease. */
	private static final Duration SHORTEST = Duration.ofMillis(1);

	private final LockTemplate template;

	private final boolean keepAlive;

	private final @Nullable LockProvider other;

	/**
	 * Create a provider whose locks end with {@code lockAtMostFor} at the latest.
	 * @param template the bean that dblock creates
	 */
	public DblockLockProvider(LockTemplate template) {
		this(template, false);
	}

	/**
	 * Create a provider.
	 * @param template the bean that dblock creates
	 * @param keepAlive whether locks are renewed until they are released, so that
	 * {@code lockAtMostFor} is only the time for which a lock outlives its process
	 */
	public DblockLockProvider(LockTemplate template, boolean keepAlive) {
		this(template, keepAlive, null);
	}

	private DblockLockProvider(LockTemplate template, boolean keepAlive, @Nullable LockProvider other) {
		this.template = template;
		this.keepAlive = keepAlive;
		this.other = other;
	}

	/**
	 * Return a provider that acquires each lock from another provider as well. Use it
	 * while instances are running that know only the other provider.
	 * @param other the other provider
	 * @return the provider
	 * @throws IllegalArgumentException if the other provider has the same locks, or if
	 * only one of the two keeps its locks alive, so that one of two locks would end
	 * during the work
	 */
	public DblockLockProvider beside(LockProvider other) {
		if (other instanceof DblockLockProvider) {
			throw new IllegalArgumentException("The other provider has the locks of dblock too, so it would refuse each"
					+ " lock that this one has acquired. Use the provider of the instances without dblock");
		}
		if (this.keepAlive && other instanceof ExtensibleLockProvider) {
			throw new IllegalArgumentException("The %s does not keep its locks alive, so they would end during the work"
				.formatted(other.getClass().getSimpleName())
					+ ". Keep locks alive once all instances use dblock, or wrap that provider in a KeepAliveLockProvider");
		}
		if (!this.keepAlive && other instanceof KeepAliveLockProvider) {
			throw new IllegalArgumentException(
					"The KeepAliveLockProvider keeps its locks alive, so those of dblock would"
							+ " end during the work. Keep both alive");
		}
		return new DblockLockProvider(this.template, this.keepAlive, other);
	}

	/**
	 * Acquire a lock, unless it is held. A thread that already holds it is refused as
	 * well, as by each provider of ShedLock.
	 * @param configuration the name of the lock and its durations
	 * @return the lock; empty if it has another holder, or if the application is shutting
	 * down
	 * @throws DataAccessException if the request to the server fails and no scheduler
	 * repeats it
	 * @throws IllegalArgumentException if dblock cannot keep such a lock, with the reason
	 */
	@Override
	public Optional<SimpleLock> lock(LockConfiguration configuration) {
		SchedulerLockCall call = SchedulerLockCall.take();
		LockEngine engine = engine();
		LockEngine.Attempt attempt;
		try {
			attempt = engine.acquire(configuration.getName(), options(configuration, call), Duration.ZERO);
		}
		catch (LockShutdownException ex) {
			logger.debug("The lock '{}' is not acquired, because the application is shutting down",
					configuration.getName(), ex);
			return Optional.empty();
		}
		catch (DataAccessException ex) {
			return failed(ex, call);
		}
		if (attempt instanceof LockEngine.Refused refused) {
			return refused(refused.refusal(), call);
		}
		return granted(configuration, call, engine, ((LockEngine.Granted) attempt).handle());
	}

	/**
	 * Check what can be known of a lock before it is requested.
	 * @throws IllegalArgumentException if dblock cannot keep such a lock
	 */
	void check(LockConfiguration configuration) {
		engine().check(configuration.getName(), options(configuration, null));
	}

	LockEngine engine() {
		return DefaultLockTemplate.of(this.template).engine();
	}

	private LockOptions options(LockConfiguration configuration, @Nullable SchedulerLockCall call) {
		LockOptions options = LockOptions.lease(lease(configuration))
			.minHold(minHold(configuration))
			.autoRenew(this.keepAlive);
		return (call != null) ? call.complete(options, configuration.getName()) : options;
	}

	static Duration lease(LockConfiguration configuration) {
		Duration atMost = configuration.getLockAtMostFor();
		return (atMost.compareTo(SHORTEST) < 0) ? SHORTEST : atMost;
	}

	static Duration minHold(LockConfiguration configuration) {
		Duration atLeast = configuration.getLockAtLeastFor();
		return atLeast.isNegative() ? Duration.ZERO : atLeast;
	}

	private static Optional<SimpleLock> refused(LockRefusal refusal, @Nullable SchedulerLockCall call) {
		logger.debug("{}", refusal.describe());
		if (call != null) {
			call.refused(refusal);
		}
		return Optional.empty();
	}

	/**
	 * Leave the planned time of a scheduled call due. Other callers get the exception.
	 */
	private static Optional<SimpleLock> failed(RuntimeException failure, @Nullable SchedulerLockCall call) {
		if (call != null && call.failed(failure)) {
			return Optional.empty();
		}
		throw failure;
	}

	private Optional<SimpleLock> granted(LockConfiguration configuration, @Nullable SchedulerLockCall call,
			LockEngine engine, LockHandle handle) {
		SimpleLock besides = null;
		if (this.other != null) {
			try {
				besides = acquireBeside(this.other, configuration, engine, handle);
			}
			catch (IllegalArgumentException ex) {
				// The same for each attempt
				throw ex;
			}
			catch (RuntimeException ex) {
				return failed(ex, call);
			}
			if (besides == null) {
				return refused(heldElsewhere(handle, call), call);
			}
		}
		if (call != null) {
			call.granted(engine, handle);
		}
		return Optional.of(new DblockSimpleLock(configuration, handle, ProvidedLock.enter(engine, handle),
				this.keepAlive, besides));
	}

	/**
	 * Acquire the lock of the other provider second: unlike that one, the lock of dblock
	 * can be given up without a trace, whatever its minimum hold is. Its planned time is
	 * open again then, on each instance.
	 */
	private static @Nullable SimpleLock acquireBeside(LockProvider other, LockConfiguration configuration,
			LockEngine engine, LockHandle handle) {
		Optional<SimpleLock> acquired = Optional.empty();
		try {
			// The configuration counts from its creation, and the first request took time
			acquired = other.lock(new LockConfiguration(ClockProvider.now(), configuration.getName(),
					configuration.getLockAtMostFor(), configuration.getLockAtLeastFor()));
		}
		finally {
			if (acquired.isEmpty()) {
				Hold.owned(engine, handle).releaseUnused();
			}
		}
		return acquired.orElse(null);
	}

	/**
	 * Return the refusal by the other provider. For a job it is final: an instance
	 * without dblock is running the job, and keeps no record of that.
	 */
	private static LockRefusal heldElsewhere(LockHandle handle, @Nullable SchedulerLockCall call) {
		return new LockRefusal(handle.name(), null, Duration.ZERO, "The application's own LockProvider refused it",
				(call != null) ? new JobRefusal(JobRefusal.Reason.RUNNING, null, null, null, null) : null);
	}

}
