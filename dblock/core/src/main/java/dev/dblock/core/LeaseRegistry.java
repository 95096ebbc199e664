package dev.dblock.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.store.LeaseKey;
import org.jspecify.annotations.Nullable;

/**
 * The leases that this process holds, and the leases that it has lost while their owners
 * do not know yet or have not finished.
 */
final class LeaseRegistry {

	private final Map<String, Lease> byHolder = new ConcurrentHashMap<>();

	private final Map<Thread, Set<Lease>> byThread = new ConcurrentHashMap<>();

	private final Set<Lease> lost = ConcurrentHashMap.newKeySet();

	private final Consumer<Lease> ended;

	/**
	 * Create an empty registry.
	 * @param ended is notified of each lease that ends without a successor
	 */
	LeaseRegistry(Consumer<Lease> ended) {
		this.ended = ended;
	}

	/**
	 * Add a lease, in place of the one that it was handed over from.
	 */
	void add(Lease lease) {
		lease.owner().threads().forEach((thread) -> know(thread, lease));
		Lease earlier = this.byHolder.put(lease.key().holder(), lease);
		if (earlier != null) {
			forget(earlier);
		}
	}

	private void know(Thread thread, Lease lease) {
		this.byThread.compute(thread, (key, held) -> {
			Set<Lease> all = (held != null) ? held : ConcurrentHashMap.newKeySet(1);
			all.add(lease);
			return all;
		});
	}

	private void forget(Lease lease) {
		lease.owner().threads().forEach((thread) -> forget(thread, lease));
	}

	private void forget(Thread thread, Lease lease) {
		this.byThread.computeIfPresent(thread, (key, held) -> {
			held.remove(lease);
			return held.isEmpty() ? null : held;
		});
	}

	/**
	 * Add the current thread to those that work under a lease.
	 */
	void attach(Lease lease) {
		Thread current = Thread.currentThread();
		lease.owner().attach();
		know(current, lease);
		if (find(lease.key()) != lease) {
			forget(current, lease);
		}
	}

	/**
	 * Remove the current thread from those that work under a lease.
	 */
	void detach(Lease lease) {
		Thread current = Thread.currentThread();
		lease.owner().detach();
		if (!lease.owner().isOf(current)) {
			forget(current, lease);
		}
	}

	/**
	 * Separate a lease from the thread that acquired it.
	 */
	void leave(Lease lease) {
		Thread thread = lease.owner().leave();
		if (!lease.owner().isOf(thread)) {
			forget(thread, lease);
		}
	}

	void remove(Lease lease) {
		if (this.byHolder.remove(lease.key().holder(), lease)) {
			forget(lease);
			this.ended.accept(lease);
		}
	}

	/**
	 * Remove a lost lease, but remember that its owner may still work.
	 */
	void moveToLost(Lease lease) {
		lease.forgetKept();
		this.lost.add(lease);
		remove(lease);
		// Its owner may have finished before it was added
		if (isFinished(lease)) {
			finished(lease);
		}
	}

	/**
	 * Record that the owner of a lease has closed its handle and no longer needs to be
	 * notified of a loss.
	 */
	void finished(Lease lease) {
		this.lost.remove(lease);
	}

	/**
	 * Remove the lost leases whose handles are closed or not returned to any caller, or
	 * are unreachable and will never be closed.
	 */
	void forgetFinished() {
		this.lost.removeIf(LeaseRegistry::isFinished);
	}

	private static boolean isFinished(Lease lost) {
		LeasedLock handle = lost.handle();
		return handle == null || handle.isClosed() || lost.owner().isFinished();
	}

	/**
	 * Return the handles under which a thread works, held or lost.
	 */
	List<LeasedLock> locksOf(Thread thread) {
		List<LeasedLock> found = new ArrayList<>(2);
		for (Lease lease : this.byThread.getOrDefault(thread, Set.of())) {
			if (lease.owner().isOf(thread) && lease.end() != LossReason.RELEASED) {
				addHandle(lease, found);
			}
		}
		if (!this.lost.isEmpty()) {
			for (Lease lease : this.lost) {
				if (lease.owner().isOf(thread) && !isFinished(lease)) {
					addHandle(lease, found);
				}
			}
		}
		return found;
	}

	private static void addHandle(Lease lease, List<LeasedLock> found) {
		LeasedLock handle = lease.handle();
		if (handle != null) {
			found.add(handle);
		}
	}

	/**
	 * Return the present lease of an acquisition. After a hand-over, this is not the
	 * lease that the acquisition began with.
	 */
	@Nullable Lease find(LeaseKey key) {
		return this.byHolder.get(key.holder());
	}

	Collection<Lease> all() {
		return this.byHolder.values();
	}

	int size() {
		return this.byHolder.size();
	}

	/**
	 * Return how many threads work under a lease.
	 */
	int threads() {
		return this.byThread.size();
	}

	/**
	 * Return how many leases were lost whose owners have not finished.
	 */
	int unfinished() {
		return this.lost.size();
	}

	boolean isEmpty() {
		return this.byHolder.isEmpty();
	}

}
