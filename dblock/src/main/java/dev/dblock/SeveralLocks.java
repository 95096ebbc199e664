package dev.dblock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires several locks, all or none.
 * <p>
 * They are asked for one after the other, in the order of their full names, which is the
 * same in every thread and every process: whoever waits for one holds only such as come
 * before it, so no circle of waiting threads can close. A thread that works under one of
 * them already cannot keep to that order for those that come before it. These it asks for
 * without waiting, so that of two such threads one gives way.
 * <p>
 * The time that each may be waited for counts from the beginning for all of them.
 */
final class SeveralLocks {

	private static final Logger logger = LoggerFactory.getLogger(SeveralLocks.class);

	private final LockEngine engine;

	private final @Nullable ReactiveHolds around;

	private final Map<String, Wanted> wanted = new TreeMap<>();

	private final Map<String, Hold> entered = new HashMap<>();

	private final Map<String, Hold> holds = new LinkedHashMap<>();

	private final List<Hold> acquired = new ArrayList<>();

	private final List<Hold> joined = new ArrayList<>();

	/** Each ends what a re-entry has begun. */
	private final List<Runnable> reentries = new ArrayList<>();

	private final long startNanos = System.nanoTime();

	private @Nullable String lastEntered;

	private boolean configuredWaits = true;

	/**
	 * Several locks to be acquired.
	 * @param engine whom to ask for them
	 * @param locks the names and how to acquire and hold each
	 * @throws IllegalArgumentException when there is none, or a name or the options
	 * cannot be
	 */
	SeveralLocks(LockEngine engine, Map<String, LockOptions> locks) {
		this(engine, locks, null);
	}

	/**
	 * Several locks to be acquired for a sequence.
	 * @param engine whom to ask for them
	 * @param locks the names and how to acquire and hold each
	 * @param around finds the locks under which the sequence works already
	 */
	SeveralLocks(LockEngine engine, Map<String, LockOptions> locks, @Nullable ReactiveHolds around) {
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
	 * Wait for those only whose options say so.
	 */
	SeveralLocks withoutConfiguredWaits() {
		this.configuredWaits = false;
		return this;
	}

	/**
	 * Acquire them.
	 * @return the refusal of the first that was not available, when none is held; or
	 * {@code null} when all are
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
			Hold hold = (this.around != null) ? this.around.find(lock.fullName())
					: Hold.ofThread(this.engine, lock.fullName());
			if (hold != null && join(hold)) {
				reenter(lock, hold);
				this.entered.put(lock.fullName(), hold);
				this.lastEntered = lock.fullName();
			}
		}
	}

	private void reenter(Wanted lock, Hold hold) {
		this.reentries.add(this.engine.reenter(hold.handle(), lock.name(), lock.options()));
	}

	/**
	 * Share a hold with the work around.
	 * @return {@code false} when it was given back before
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
		if (attempt instanceof LockRefusal refusal) {
			return explain(refusal, lock, outOfOrder);
		}
		LockHandle handle = ((LockGrant) attempt).handle();
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
	 * The work begins with all locks held, and with a whole lease of those that are not
	 * renewed from now on.
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
	 * Whether a lease that its owner will renew by hand, or not at all, is renewed while
	 * others are waited for.
	 */
	private boolean isRenewedForNow(Wanted lock) {
		return Boolean.FALSE.equals(lock.completed().autoRenew()) && this.wanted.size() > 1
				&& !this.entered.containsKey(lock.fullName());
	}

	private LockRefusal explain(LockRefusal refusal, Wanted lock, boolean outOfOrder) {
		if (this.wanted.size() == 1) {
			return refusal;
		}
		String remark = this.wanted.keySet()
			.stream()
			.filter((name) -> !name.equals(refusal.name()))
			.collect(Collectors.joining("', '",
					"It was asked for together with others, none of which is held for it now: '", "'"));
		boolean waits = !waitFor(lock).isZero();
		if (waits && outOfOrder) {
			remark += (". It was not waited for, since the thread worked under '%s' already, which comes after it, and"
					+ " two threads that do so could wait for each other. Lock all of them at once, in the outer place")
				.formatted(this.lastEntered);
		}
		return new LockRefusal(refusal.name(), refusal.holder(), waits ? elapsed() : Duration.ZERO, remark, null);
	}

	/**
	 * The loss by which this thread was interrupted, if it was.
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
				logger.trace("Nobody says whether the lock '{}' is still held", hold.handle().name(), ex);
			}
		}
		return null;
	}

	private void giveBack() {
		for (int i = this.acquired.size() - 1; i >= 0; i--) {
			LockHandle handle = this.acquired.get(i).handle();
			giveBack(handle, () -> this.engine.giveBack(handle));
		}
		this.joined.forEach((hold) -> giveBack(hold.handle(), hold::leave));
		this.reentries.forEach(Runnable::run);
	}

	private static void giveBack(LockHandle handle, Runnable way) {
		try {
			way.run();
		}
		catch (LockLostException ex) {
			logger.trace("Whoever works under the lock '{}' will hear of its loss", handle.name(), ex);
		}
		catch (RuntimeException ex) {
			logger
				.warn("The lock '{}' (fencing token {}), one of several, could not be given back; others wait until its"
						+ " lease ends. Look at MongoDB if it happens again", handle.name(), handle.token(), ex);
		}
	}

	/**
	 * Finds the lock of a full name under which a sequence works already.
	 */
	@FunctionalInterface
	interface ReactiveHolds {

		@Nullable Hold find(String fullName);

	}

	/**
	 * One of the locks.
	 *
	 * @param name the name as the application says it
	 * @param fullName the name as the server knows it
	 * @param options the options as the application says them
	 * @param completed the options that it is acquired with, as far as they are known
	 */
	private record Wanted(String name, String fullName, LockOptions options, LockOptions completed) {
	}

}
