package dev.dblock.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LossReason;
import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.store.LeaseKey;
import org.bson.BsonDocument;

/**
 * Checks the promises about locks, by what sections and the store see.
 */
final class Judge {

	/** A notification takes several threads, each of which can be stalled for 2 s. */
	private static final long LOSS_REPORT_NANOS = TimeUnit.SECONDS.toNanos(20);

	private static final long LONGEST_HOLD_NANOS = TimeUnit.SECONDS.toNanos(200);

	private static final long LONGEST_FREE_NANOS = TimeUnit.SECONDS.toNanos(40);

	/** Three releases fit in, each of which can be lost. */
	private static final long LONGEST_ORPHAN_NANOS = TimeUnit.SECONDS.toNanos(12);

	/** The clocks of the process and of the server differ. */
	private static final long MIN_HOLD_TOLERANCE_NANOS = 10_000_000;

	private final Scheduler scheduler;

	private final Journal journal;

	private final Function<String, Duration> stored;

	private final Map<String, Long> granted = new HashMap<>();

	private final Map<String, Long> grantedNanos = new HashMap<>();

	/** Until when a lock is unavailable, even if it is released. */
	private final Map<String, Long> minHolds = new HashMap<>();

	/** The acquisitions that failed, with their processes. */
	private final Map<String, Instance> failed = new HashMap<>();

	private final Map<String, Long> entered = new HashMap<>();

	/** The tokens of committed transactions by their locks and numbers. */
	private final Map<String, Map<Long, Long>> committed = new HashMap<>();

	private final Map<String, LeaseKey> holders = new HashMap<>();

	private final Map<String, Long> heldSince = new HashMap<>();

	private final Map<String, Long> freeSince = new HashMap<>();

	private final Set<ObservedLock> open = new LinkedHashSet<>();

	/**
	 * Create a judge.
	 * @param stored returns how long a lock remains unavailable by the store's clock
	 */
	Judge(Scheduler scheduler, Journal journal, Function<String, Duration> stored) {
		this.scheduler = scheduler;
		this.journal = journal;
		this.stored = stored;
	}

	/**
	 * Locks that are released by force do not exclude.
	 */
	private static boolean isExclusive(String name) {
		return !name.startsWith("forced");
	}

	/**
	 * Called in the store when it has granted a lock or a permit. Each other section of
	 * it must know that it has lost it, by its own clocks.
	 * @param key the acquisition, whose permit is known
	 * @param token the first of the tokens that were granted
	 */
	void granted(Instance instance, LeaseKey key, long token) {
		String name = key.id();
		if (key.permit() > Math.max(1, key.permits())) {
			this.journal.violation("'%s' was granted to a request for %d permits".formatted(name, key.permits()));
		}
		this.journal.add("grant " + name + " " + token + " to " + instance.name());
		this.journal.count("grants");
		if (token <= this.granted.getOrDefault(name, 0L) && !key.equals(this.holders.get(name))) {
			this.journal
				.violation("token %d of '%s' was granted after %d".formatted(token, name, this.granted.get(name)));
		}
		if (!key.equals(this.holders.put(name, key))) {
			requireMinHold(name, "granted to " + instance.name());
			this.grantedNanos.put(name, this.scheduler.now());
		}
		this.granted.merge(name, token, Math::max);
		for (ObservedLock lock : List.copyOf(this.open)) {
			if (lock.name().equals(name) && lock.token() < token && isExclusive(name)) {
				this.scheduler.start(lock.instance().process(), "witness", () -> witness(lock));
			}
		}
	}

	/**
	 * Return the first token of the last acquisition.
	 */
	long granted(String name) {
		return this.granted.getOrDefault(name, 0L);
	}

	private void requireMinHold(String name, String what) {
		if (this.scheduler.now() < this.minHolds.getOrDefault(name, 0L)) {
			this.journal.violation("'%s' was %s during the minimum hold of another".formatted(name, what));
		}
	}

	/**
	 * Called by a section that has acquired a lock with a minimum hold.
	 */
	void holdsAtLeast(ObservedLock lock, Duration minHold) {
		if (lock.token() == this.granted.getOrDefault(lock.name(), 0L)) {
			this.minHolds.put(lock.name(),
					this.grantedNanos.getOrDefault(lock.name(), 0L) + minHold.toNanos() - MIN_HOLD_TOLERANCE_NANOS);
		}
	}

	/**
	 * Called when the answer of a request to acquire a lock did not arrive.
	 */
	void failed(Instance instance, LeaseKey key) {
		this.failed.put(key.holder(), instance);
	}

	/**
	 * Called when the end of a lease may have changed in the store. No section may trust
	 * its lease for longer than the store keeps it.
	 */
	void changed(String name) {
		for (ObservedLock lock : List.copyOf(this.open)) {
			if (lock.name().equals(name)) {
				this.scheduler.start(lock.instance().process(), "witness", () -> isHeld(lock));
			}
		}
	}

	private void witness(ObservedLock lock) {
		boolean held = isHeld(lock);
		long unobserved = this.scheduler.now();
		while (!held && !lock.isClosed() && lock.losses() == 0
				&& this.scheduler.now() - unobserved < LOSS_REPORT_NANOS) {
			long before = lock.instance().stops();
			this.scheduler.pause(TimeUnit.SECONDS.toNanos(1));
			if (lock.instance().stops() != before || lock.instance().process().isStopped()) {
				unobserved = this.scheduler.now();
			}
		}
		if (!held && !lock.isClosed() && lock.losses() == 0 && !lock.isReleasedByShutdown()) {
			this.journal.violation("the loss of " + lock + " was not reported", lock.owner());
		}
	}

	/**
	 * Called by a section that has acquired a lock.
	 */
	ObservedLock entered(Instance instance, LockHandle handle) {
		ObservedLock lock = new ObservedLock(instance, this.scheduler.requireCurrent(), handle);
		this.open.add(lock);
		handle.onLost((reason) -> {
			lock.lossReported();
			if (lock.isKept() && reason == LossReason.SHUTDOWN) {
				this.journal.violation(lock + " was kept until the shutdown, which has not released it");
			}
		});
		requireHigher(lock, 1);
		if (isHeld(lock)) {
			requireMinHold(lock.name(), "handed to " + instance.name());
		}
		return lock;
	}

	/**
	 * Called by work for which the template has acquired or re-entered a lock.
	 */
	ObservedLock working(Instance instance, LockHandle handle) {
		ObservedLock lock = new ObservedLock(instance, this.scheduler.requireCurrent(), handle);
		requireHigher(lock, 0);
		return lock;
	}

	private void requireHigher(ObservedLock lock, int atLeastBy) {
		String name = lock.name();
		boolean held = this.scheduler.atomically(() -> lock.handle().isHeld());
		long highest = this.entered.getOrDefault(name, 0L);
		this.journal.add("enter " + lock + (held ? "" : ", already lost"));
		if (held && lock.token() < highest + atLeastBy && isExclusive(name)) {
			this.journal.violation(lock + " is not higher than " + highest, lock.owner());
		}
		this.entered.merge(name, lock.token(), Math::max);
	}

	/**
	 * Check that no other has a lock that this section holds by its handle.
	 * @return whether the handle reports it as held
	 */
	boolean isHeld(ObservedLock lock) {
		String name = lock.name();
		boolean held = this.scheduler.atomically(() -> lock.handle().isHeld());
		if (held && isExclusive(name)) {
			if (this.entered.getOrDefault(name, 0L) > lock.token()) {
				this.journal.violation(
						"OVERLAP: %s holds it, and token %d is in use".formatted(lock, this.entered.get(name)),
						lock.owner(), this.scheduler.requireCurrent());
			}
			else if (this.granted.getOrDefault(name, 0L) > lock.token()) {
				this.journal.violation(
						"OVERLAP: %s holds it, and token %d is granted".formatted(lock, this.granted.get(name)),
						lock.owner(), this.scheduler.requireCurrent());
			}
			requireStored(lock);
		}
		return held;
	}

	private void requireStored(ObservedLock lock) {
		String broken = this.scheduler.atomically(() -> {
			Duration trusted = lock.handle().remaining();
			Duration kept = this.stored.apply(lock.name());
			return (trusted.compareTo(kept) > 0)
					? "%s trusts its lease for %s, but the store keeps it for %s".formatted(lock, trusted, kept) : null;
		});
		if (broken != null) {
			this.journal.violation(broken, lock.owner(), this.scheduler.requireCurrent());
		}
	}

	/**
	 * Called when an engine is closed. Nothing proves its leases any more.
	 */
	void shutDown(Instance instance) {
		for (ObservedLock lock : List.copyOf(this.open)) {
			if (lock.instance() == instance && lock.handle().isHeld()) {
				this.journal.violation(lock + " is held after the shutdown", lock.owner());
			}
		}
	}

	/**
	 * Called when a section is about to close its lock.
	 */
	void closing(ObservedLock lock) {
		if (isExclusive(lock.name()) && this.granted.getOrDefault(lock.name(), 0L) > lock.token()) {
			lock.overtaken(this.scheduler.now());
		}
	}

	/**
	 * Called when a section has closed its lock.
	 * @param asLost whether the loss of the lock was reported to it
	 */
	void closed(ObservedLock lock, boolean asLost) {
		if (!lock.isClosed()) {
			if (!asLost && lock.isOvertaken()) {
				this.journal.violation(lock + " was closed as held, but another had been granted before", lock.owner());
			}
			lock.closed(asLost);
			this.open.remove(lock);
			this.journal.add("leave " + lock + (asLost ? ", lost" : ""));
			this.journal.count(asLost ? "losses" : "releases");
			this.scheduler.start(lock.instance().process(), "reported", () -> requireReport(lock));
		}
	}

	private void requireReport(ObservedLock lock) {
		this.scheduler.pause(LOSS_REPORT_NANOS);
		if (lock.isClosedAsLost() && lock.losses() == 0) {
			this.journal.violation(lock + " was closed as lost, but its callback was not called", lock.owner());
		}
		// The shutdown may have closed a kept lock first, so that this close did nothing
		if (!lock.isClosedAsLost() && lock.losses() > 0 && !lock.isReleasedByShutdown()) {
			this.journal.violation(lock + " was closed as held, but its callback was called", lock.owner());
		}
		if (lock.losses() > 1) {
			this.journal.violation(lock + " was reported as lost twice", lock.owner());
		}
	}

	/**
	 * Called in the store when it has released a lock.
	 */
	void released(LeaseKey by, String holder) {
		if (!by.holder().equals(holder)) {
			this.journal.violation("'%s', held by %s, was released by %s".formatted(by.ids(), holder, by.holder()));
		}
	}

	/**
	 * Called in the store when a majority has the commit of a fenced transaction.
	 */
	void committed(BsonDocument entry) {
		String name = entry.getString("name").getValue();
		long number = entry.getInt64("number").getValue();
		long token = entry.getInt64("token").getValue();
		this.journal.add("commit " + number + " under '" + name + "' with token " + token);
		this.journal.count("fenced commits");
		if (token < this.entered.getOrDefault(name, 0L)) {
			this.journal.violation("a transaction under '%s' with token %d was committed, but token %d is in use"
				.formatted(name, token, this.entered.get(name)));
		}
		Map<Long, Long> all = this.committed.computeIfAbsent(name, (key) -> new HashMap<>());
		Long before = all.put(number, token);
		if (before != null) {
			this.journal.violation("the transactions under '%s' with tokens %d and %d have both written %d"
				.formatted(name, before, token, number));
		}
		if (all.values().stream().anyMatch((other) -> other > token)) {
			this.journal.violation("a transaction under '%s' with token %d was committed after one with a higher token"
				.formatted(name, token));
		}
	}

	/**
	 * Called by a section whose commit was confirmed.
	 */
	void confirmed(ObservedLock lock, long number) {
		if (!Objects.equals(lock.token(), this.committed.getOrDefault(lock.name(), Map.of()).get(number))) {
			this.journal.violation("the commit of %d by %s was confirmed, but is not there".formatted(number, lock),
					lock.owner());
		}
	}

	/**
	 * Called in the store when it has prolonged leases that may have ended before.
	 */
	void prolonged(LeaseKey lease, Duration before) {
		if (before.isZero() && !this.stored.apply(lease.id()).isZero()) {
			revived(lease.id());
		}
	}

	void revived(String name) {
		this.journal.violation("the lease of '%s' had ended, and was revived".formatted(name));
	}

	/**
	 * Called regularly with the state of a lock in the store.
	 * @param wanted whether an undisturbed process waits for it
	 */
	void observed(LockInfo lock, boolean wanted) {
		long now = this.scheduler.now();
		String name = lock.name();
		if (!lock.remaining().isZero()) {
			this.freeSince.remove(name);
			long since = this.heldSince.computeIfAbsent(name + "/" + lock.holder() + "/" + lock.acquiredAt(),
					(key) -> now);
			requireNoOrphan(lock, now);
			if (now - since > LONGEST_HOLD_NANOS) {
				this.journal.violation("'%s' is kept by %s, %s, which nothing releases".formatted(name, lock.acquirer(),
						lock.thread()));
				this.heldSince.clear();
			}
		}
		else {
			this.heldSince.keySet().removeIf((key) -> key.startsWith(name + "/"));
			long since = this.freeSince.computeIfAbsent(name, (key) -> now);
			if (!wanted) {
				this.freeSince.put(name, now);
			}
			else if (now - since > LONGEST_FREE_NANOS) {
				this.journal.violation("'%s' is free, but a waiting thread does not get it".formatted(name));
				this.freeSince.clear();
			}
		}
	}

	/**
	 * An acquisition that failed is released by its process, even if the request was
	 * applied late.
	 */
	private void requireNoOrphan(LockInfo lock, long now) {
		Instance instance = this.failed.get(lock.holder());
		if (instance != null) {
			String orphan = "orphan " + lock.holder();
			boolean excused = instance.isClosing() || instance.process().isKilled() || instance.process().isStopped();
			long since = this.freeSince.merge(orphan, now, (first, next) -> excused ? next : first);
			if (now - since > LONGEST_ORPHAN_NANOS) {
				this.journal.violation("'%s' is still held by %s, whose attempt to acquire it failed"
					.formatted(lock.name(), instance.name()));
				this.freeSince.remove(orphan);
			}
		}
	}

	/**
	 * Forget the sections of a process that was killed.
	 */
	void killed(Instance instance) {
		this.open.removeIf((lock) -> lock.instance() == instance);
	}

	/**
	 * Check that all sections have closed their locks.
	 */
	void requireNoneOpen() {
		this.open.forEach((lock) -> this.journal.violation(lock + " was not closed", lock.owner()));
	}

}
