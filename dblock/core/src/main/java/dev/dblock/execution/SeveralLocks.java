package dev.dblock.execution;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.WhenLost;
import dev.dblock.engine.LockEngine;
import dev.dblock.store.LockAdministration;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Engine that acquires several locks as if they were one, all or none.
 * <p>
 * The locks are requested one after the other, in the order of their full names, which is
 * the same in every thread and every process. A thread that waits for one lock holds only
 * locks that come before it, so a circular wait is impossible. A thread that already
 * works under one of the locks cannot follow that order for those that come before it. It
 * requests these without waiting, so that one of two such threads gives way.
 * <p>
 * The waits of all locks count from the same beginning.
 */
public final class SeveralLocks implements LockEngine {

	private static final Logger logger = LoggerFactory.getLogger(SeveralLocks.class);

	private final LockEngine engine;

	private final Map<String, LockOptions> locks;

	/** The locks under which a sequence already works, by full name. */
	private final @Nullable Map<String, Hold> around;

	SeveralLocks(LockEngine engine, Map<String, LockOptions> locks) {
		this(engine, new LinkedHashMap<>(locks), null);
	}

	private SeveralLocks(LockEngine engine, Map<String, LockOptions> locks, @Nullable Map<String, Hold> around) {
		this.engine = engine;
		this.locks = locks;
		this.around = around;
	}

	/**
	 * Return an engine for one sequence. It acquires the locks in another thread. The
	 * sequence may already work under locks: those of its context, of the subscribing
	 * thread, and of its reactive transaction.
	 * @param around finds the lock with a full name under which the sequence works
	 * @return the engine
	 */
	public SeveralLocks in(BiFunction<LockEngine, String, @Nullable Hold> around) {
		LockEngine resolved = this.engine.resolved(this.locks.keySet());
		Map<String, Hold> holds = new HashMap<>();
		for (String name : this.locks.keySet()) {
			String fullName = resolved.fullName(name);
			Hold hold = around.apply(resolved, fullName);
			if (hold != null) {
				holds.put(fullName, hold);
			}
		}
		return new SeveralLocks(resolved, this.locks, holds);
	}

	/**
	 * Return the engine of the locks, which can acquire and administer each of them.
	 */
	LockEngine single() {
		return this.engine;
	}

	/**
	 * Return an id of its own, since only the single locks are re-entered, and not all of
	 * them as one.
	 */
	@Override
	public Object id() {
		return this;
	}

	@Override
	public String fullName(String name) {
		return name;
	}

	@Override
	public void check(String name, LockOptions options) {
		this.locks.forEach(this.engine::check);
	}

	/**
	 * Return the options with the strictest of what happens at a loss.
	 */
	@Override
	public LockOptions complete(String name, LockOptions options) {
		boolean interrupts = this.locks.entrySet()
			.stream()
			.anyMatch((lock) -> this.engine.complete(lock.getKey(), lock.getValue()).whenLost() == WhenLost.INTERRUPT);
		return options.whenLost(interrupts ? WhenLost.INTERRUPT : WhenLost.NOTIFY);
	}

	@Override
	public LockEngine.Attempt acquire(String name, LockOptions options) {
		return new Acquisition(this.engine, purposeful(options.why()), true).acquire(this.around);
	}

	/**
	 * Return the options of each lock. A lock without a purpose has that of the call,
	 * since the stack of the acquiring thread need not show the caller.
	 */
	private Map<String, LockOptions> purposeful(@Nullable String why) {
		if (why == null) {
			return this.locks;
		}
		Map<String, LockOptions> all = new LinkedHashMap<>();
		this.locks.forEach((name, options) -> all.put(name, (options.why() != null) ? options : options.why(why)));
		return all;
	}

	/**
	 * Acquire the locks. After a refusal, none is held.
	 * @param configuredWaits whether locks whose options have no wait are waited for as
	 * configured
	 * @return the handles of all locks ({@link LockHandleSet}), or the refusal of the
	 * first one that was not available
	 * @throws IllegalArgumentException if there is none, or if a name or the options are
	 * invalid
	 */
	LockEngine.Attempt acquire(boolean configuredWaits) {
		return new Acquisition(this.engine, this.locks, configuredWaits).acquire(this.around);
	}

	@Override
	public String acquirer() {
		return this.engine.acquirer();
	}

	@Override
	public LockAdministration administration() {
		return this.engine.administration();
	}

	/**
	 * One request for the locks.
	 */
	private static final class Acquisition {

		private final LockEngine engine;

		private final boolean configuredWaits;

		/** In the order of acquisition. */
		private final Map<String, Wanted> wanted = new TreeMap<>();

		/** Each ends one re-entry. */
		private final List<Runnable> reentries = new ArrayList<>();

		private final long startNanos = System.nanoTime();

		private @Nullable String lastEntered;

		Acquisition(LockEngine engine, Map<String, LockOptions> locks, boolean configuredWaits) {
			if (locks.isEmpty()) {
				throw new IllegalArgumentException(
						"No lock was named. Name at least one, or do the work without a lock");
			}
			this.engine = engine;
			this.configuredWaits = configuredWaits;
			locks.forEach((name, options) -> {
				if (options.claim() != null) {
					throw new IllegalArgumentException("The lock '" + name
							+ "' is requested for a planned time and together with other locks. A planned time needs a"
							+ " lock of its own: acquire that lock first, and the others under it");
				}
				String fullName = engine.fullName(name);
				this.wanted.put(fullName, new Wanted(name, fullName, options, engine.complete(name, options)));
			});
		}

		LockEngine.Attempt acquire(@Nullable Map<String, Hold> around) {
			boolean complete = false;
			try {
				enter(around);
				for (Wanted lock : this.wanted.values()) {
					LockRefusal refusal = (lock.hold == null) ? acquire(lock) : null;
					if (refusal != null) {
						return new LockEngine.Refused(refusal);
					}
				}
				begin();
				complete = true;
				Map<String, Hold> holds = new LinkedHashMap<>();
				this.wanted.values().forEach((lock) -> holds.put(lock.name, lock.hold()));
				return new LockEngine.Granted(new LockHandleSet(holds, acquired(), this.reentries));
			}
			catch (LockInterruptedException ex) {
				LockLostException lost = lost();
				if (lost != null) {
					lost.addSuppressed(ex);
					throw lost;
				}
				throw ex;
			}
			finally {
				if (!complete) {
					releaseAll();
				}
			}
		}

		private void enter(@Nullable Map<String, Hold> around) {
			for (Wanted lock : this.wanted.values()) {
				Hold hold = (around != null) ? around.get(lock.fullName) : Hold.ofThread(this.engine, lock.fullName);
				if (hold == null) {
					continue;
				}
				lock.joined = hold.join();
				// An owned hold that cannot be joined was already released
				if (lock.joined || !hold.isOwned()) {
					lock.hold = hold;
					this.lastEntered = lock.fullName;
					reenter(lock);
				}
			}
		}

		private void reenter(Wanted lock) {
			this.reentries.add(lock.hold().reenter(lock.name, lock.options));
		}

		private @Nullable LockRefusal acquire(Wanted lock) {
			boolean outOfOrder = this.lastEntered != null && lock.fullName.compareTo(this.lastEntered) < 0;
			Duration left = outOfOrder ? Duration.ZERO : waitFor(lock).minus(elapsed());
			LockEngine.Attempt attempt = this.engine.acquire(lock.name, lock.options,
					left.isNegative() ? Duration.ZERO : left);
			if (attempt instanceof LockEngine.Refused refused) {
				return explain(refused.refusal(), lock, outOfOrder);
			}
			lock.hold = Hold.owned(this.engine, ((LockEngine.Granted) attempt).handle());
			lock.acquired = true;
			if (isRenewedForNow(lock)) {
				lock.hold.handle().startRenewal();
			}
			return null;
		}

		private List<Hold> acquired() {
			return this.wanted.values().stream().filter((lock) -> lock.acquired).map(Wanted::hold).toList();
		}

		private Duration waitFor(Wanted lock) {
			boolean given = lock.options.waitUpTo() != null;
			Duration wait = (this.configuredWaits || given) ? lock.completed.waitUpTo() : null;
			return (wait != null) ? wait : Duration.ZERO;
		}

		private Duration elapsed() {
			return Duration.ofNanos(System.nanoTime() - this.startNanos);
		}

		/**
		 * Ensure that the work begins with all locks held, and with a full lease of those
		 * that are no longer renewed.
		 */
		private void begin() {
			boolean any = !acquired().isEmpty();
			for (Wanted lock : this.wanted.values()) {
				if (!lock.acquired && any) {
					reenter(lock);
				}
				else if (lock.acquired && isRenewedForNow(lock)) {
					renew(lock);
					lock.hold().handle().stopRenewal();
				}
			}
			this.wanted.values().forEach((lock) -> lock.hold().handle().ensureHeld());
		}

		private static void renew(Wanted lock) {
			try {
				lock.hold().handle().renew();
			}
			catch (RepositoryInterruptedException ex) {
				throw new LockInterruptedException(lock.fullName, ex);
			}
		}

		/**
		 * Whether a lease without automatic renewal is renewed while the other locks are
		 * waited for.
		 */
		private boolean isRenewedForNow(Wanted lock) {
			Duration lease = lock.completed.lease();
			return Boolean.FALSE.equals(lock.completed.autoRenew()) && this.wanted.size() > 1
					&& (lease == null || lease.compareTo(LockOptions.SHORTEST_RENEWED_LEASE) >= 0);
		}

		private LockRefusal explain(LockRefusal refusal, Wanted lock, boolean outOfOrder) {
			if (this.wanted.size() == 1) {
				return refusal;
			}
			String remark = this.wanted.keySet()
				.stream()
				.filter((name) -> !name.equals(refusal.name()))
				.collect(Collectors.joining("', '",
						"It was requested together with others, none of which is held for this request now: '", "'"));
			boolean waits = !waitFor(lock).isZero();
			if (waits && outOfOrder) {
				remark += (". The request did not wait, because the thread already runs under '%s', which comes later"
						+ " in the order, and two threads that do so could deadlock. Acquire all of them at once, in"
						+ " the outer call")
					.formatted(this.lastEntered);
			}
			remark += (refusal.remark() != null) ? ". " + refusal.remark() : "";
			return new LockRefusal(refusal.name(), refusal.holder(), waits ? elapsed() : Duration.ZERO, remark, null,
					refusal.permits());
		}

		/**
		 * Return the loss that caused the interrupt of this thread, if any.
		 */
		private @Nullable LockLostException lost() {
			List<Hold> holds = this.wanted.values().stream().map((lock) -> lock.hold).filter(Objects::nonNull).toList();
			for (Hold hold : holds) {
				try {
					hold.handle().ensureHeld();
				}
				catch (LockLostException ex) {
					return ex;
				}
				catch (RuntimeException ex) {
					logger.trace("It is unknown whether the lock '{}' is still held", hold.handle().name(), ex);
				}
			}
			return null;
		}

		private void releaseAll() {
			List<Hold> lastFirst = new ArrayList<>(acquired());
			Collections.reverse(lastFirst);
			lastFirst.forEach((hold) -> release(hold, hold::releaseUnused));
			this.wanted.values()
				.stream()
				.filter((lock) -> lock.joined)
				.forEach((lock) -> release(lock.hold(), lock.hold()::leave));
			this.reentries.forEach(Runnable::run);
		}

		private static void release(Hold hold, Runnable way) {
			try {
				way.run();
			}
			catch (LockLostException ex) {
				logger.trace("The work under the lock '{}' will notice its loss", hold.handle().name(), ex);
			}
			catch (RuntimeException ex) {
				FailureLog.warn(logger, ex,
						"The lock '{}' (fencing token {}), one of several, could not be released; others wait until its"
								+ " lease ends. Check MongoDB if this happens again",
						hold.handle().name(), hold.handle().token());
			}
		}

	}

	/**
	 * One of the locks.
	 */
	private static final class Wanted {

		private final String name;

		private final String fullName;

		private final LockOptions options;

		/** The options with which it is acquired, as far as they are known. */
		private final LockOptions completed;

		private @Nullable Hold hold;

		/** Whether the hold is shared with the outer work. */
		private boolean joined;

		private boolean acquired;

		Wanted(String name, String fullName, LockOptions options, LockOptions completed) {
			this.name = name;
			this.fullName = fullName;
			this.options = options;
			this.completed = completed;
		}

		Hold hold() {
			return Objects.requireNonNull(this.hold);
		}

	}

}
