package dev.dblock.execution;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.engine.LockAttempt;
import dev.dblock.engine.LockEngine;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires several locks, all or none.
 * <p>
 * The locks are requested one after the other, in the order of their full names, which is
 * the same in every thread and every process. A thread that waits for one lock holds only
 * locks that come before it, so a circular wait is impossible. A thread that already
 * works under one of the locks cannot follow that order for those that come before it. It
 * requests these without waiting, so that one of two such threads gives way.
 * <p>
 * The waits of all locks count from the same beginning.
 */
final class SeveralLocks {

	private static final Logger logger = LoggerFactory.getLogger(SeveralLocks.class);

	private final LockEngine engine;

	private final @Nullable Map<String, Hold> around;

	private final Map<String, Wanted> wanted = new TreeMap<>();

	private final Map<String, Hold> entered = new HashMap<>();

	private final Map<String, Hold> holds = new LinkedHashMap<>();

	private final List<Hold> acquired = new ArrayList<>();

	private final List<Hold> joined = new ArrayList<>();

	/** Each ends one re-entry. */
	private final List<Runnable> reentries = new ArrayList<>();

	private final long startNanos = System.nanoTime();

	private @Nullable String lastEntered;

	private boolean configuredWaits = true;

	/**
	 * Create a request for several locks.
	 * @param engine the engine that acquires them
	 * @param locks the names and how to acquire and hold each
	 * @throws IllegalArgumentException if there is none, or if a name or the options are
	 * invalid
	 */
	SeveralLocks(LockEngine engine, Map<String, LockOptions> locks) {
		this(engine, locks, null);
	}

	/**
	 * Create a request for several locks of a sequence.
	 * @param engine the engine that acquires them
	 * @param locks the names and how to acquire and hold each
	 * @param around the locks under which the sequence already works, by full name
	 */
	SeveralLocks(LockEngine engine, Map<String, LockOptions> locks, @Nullable Map<String, Hold> around) {
		if (locks.isEmpty()) {
			throw new IllegalArgumentException("No lock was named. Name at least one, or do the work without a lock");
		}
		this.engine = engine;
		this.around = around;
		locks.forEach((name, options) -> {
			if (options.firing() != null) {
				throw new IllegalArgumentException("The lock '" + name
						+ "' is requested for a planned time and together"
						+ " with other locks. A planned time needs a lock of its own: acquire that lock first, and the"
						+ " others under it");
			}
			String fullName = engine.fullName(name);
			this.wanted.put(fullName, new Wanted(name, fullName, options, engine.complete(name, options)));
		});
	}

	/**
	 * Wait only for locks whose options have a wait.
	 */
	SeveralLocks withoutConfiguredWaits() {
		this.configuredWaits = false;
		return this;
	}

	/**
	 * Acquire the locks.
	 * @return the refusal of the first lock that was not available, in which case none is
	 * held; {@code null} if all are held
	 */
	@Nullable LockRefusal acquire() {
		boolean complete = false;
		try {
			LockRefusal refusal = acquireEach();
			complete = refusal == null;
			return refusal;
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
				giveBack();
			}
		}
	}

	LockHandleSet handles() {
		return new LockHandleSet(this.holds, this.acquired, this.reentries);
	}

	private @Nullable LockRefusal acquireEach() {
		enter();
		for (Wanted lock : this.wanted.values()) {
			Hold hold = this.entered.get(lock.fullName());
			LockRefusal refusal = (hold != null) ? null : acquire(lock);
			if (refusal != null) {
				return refusal;
			}
			if (hold != null) {
				this.holds.put(lock.name(), hold);
			}
		}
		begin();
		return null;
	}

	private void enter() {
		for (Wanted lock : this.wanted.values()) {
			Hold hold = (this.around != null) ? this.around.get(lock.fullName())
					: Hold.ofThread(this.engine, lock.fullName());
			if (hold != null && join(hold)) {
				reenter(lock, hold);
				this.entered.put(lock.fullName(), hold);
				this.lastEntered = lock.fullName();
			}
		}
	}

	private void reenter(Wanted lock, Hold hold) {
		this.reentries.add(hold.reenter(lock.name(), lock.options()));
	}

	/**
	 * Share a hold with the outer work.
	 * @return {@code false} if the lock was already released
	 */
	private boolean join(Hold hold) {
		boolean shared = hold.join();
		if (shared) {
			this.joined.add(hold);
		}
		return shared || !hold.isOwned();
	}

	private @Nullable LockRefusal acquire(Wanted lock) {
		boolean outOfOrder = this.lastEntered != null && lock.fullName().compareTo(this.lastEntered) < 0;
		LockAttempt attempt = ask(lock, outOfOrder);
		if (attempt instanceof LockAttempt.Refused refused) {
			return explain(refused.refusal(), lock, outOfOrder);
		}
		LockHandle handle = ((LockAttempt.Granted) attempt).handle();
		Hold hold = Hold.owned(this.engine, handle);
		this.acquired.add(hold);
		this.holds.put(lock.name(), hold);
		if (isRenewedForNow(lock)) {
			handle.startRenewal();
		}
		return null;
	}

	private LockAttempt ask(Wanted lock, boolean outOfOrder) {
		Duration left = outOfOrder ? Duration.ZERO : waitFor(lock).minus(elapsed());
		return this.engine.acquire(lock.name(), lock.options(), left.isNegative() ? Duration.ZERO : left);
	}

	private Duration waitFor(Wanted lock) {
		boolean said = lock.options().waitUpTo() != null;
		Duration wait = (this.configuredWaits || said) ? lock.completed().waitUpTo() : null;
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
		for (Wanted lock : this.wanted.values()) {
			Hold hold = this.holds.get(lock.name());
			if (hold != null && isRenewedForNow(lock)) {
				hold.handle().renew();
				hold.handle().stopRenewal();
			}
			Hold shared = this.entered.get(lock.fullName());
			if (shared != null && !this.acquired.isEmpty()) {
				reenter(lock, shared);
			}
		}
		this.holds.values().forEach((hold) -> hold.handle().ensureHeld());
	}

	/**
	 * Whether a lease without automatic renewal is renewed while the other locks are
	 * waited for.
	 */
	private boolean isRenewedForNow(Wanted lock) {
		Duration lease = lock.completed().lease();
		return Boolean.FALSE.equals(lock.completed().autoRenew()) && this.wanted.size() > 1
				&& !this.entered.containsKey(lock.fullName())
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
		remark += (refusal.remark() != null) ? ". " + refusal.remark() : "";
		boolean waits = !waitFor(lock).isZero();
		if (waits && outOfOrder) {
			remark += (". The request did not wait, because the thread already runs under '%s', which comes later in"
					+ " the order, and two threads that do so could deadlock. Acquire all of them at once, in the"
					+ " outer call")
				.formatted(this.lastEntered);
		}
		return new LockRefusal(refusal.name(), refusal.holder(), waits ? elapsed() : Duration.ZERO, remark, null);
	}

	/**
	 * Return the loss that caused the interrupt of this thread, if any.
	 */
	private @Nullable LockLostException lost() {
		for (Hold hold : this.acquired) {
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

	private void giveBack() {
		for (int i = this.acquired.size() - 1; i >= 0; i--) {
			Hold hold = this.acquired.get(i);
			giveBack(hold.handle(), hold::abandon);
		}
		this.joined.forEach((hold) -> giveBack(hold.handle(), hold::leave));
		this.reentries.forEach(Runnable::run);
	}

	private static void giveBack(LockHandle handle, Runnable way) {
		try {
			way.run();
		}
		catch (LockLostException ex) {
			logger.trace("The work under the lock '{}' will notice its loss", handle.name(), ex);
		}
		catch (RuntimeException ex) {
			FailureLog.warn(logger, ex,
					"The lock '{}' (fencing token {}), one of several, could not be released; others wait until its"
							+ " lease ends. Check MongoDB if this happens again",
					handle.name(), handle.token());
		}
	}

	/**
	 * One of the locks.
	 *
	 * @param name the name as used by the application
	 * @param fullName the name as stored on the server
	 * @param options the options as set by the application
	 * @param completed the options with which it is acquired, as far as they are known
	 */
	private record Wanted(String name, String fullName, LockOptions options, LockOptions completed) {
	}

}
