package dev.dblock.core;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import dev.dblock.LossReason;
import dev.dblock.store.LeaseKey;
import org.jspecify.annotations.Nullable;

/**
 * The leases that this process holds, and those that it has lost while their owners do
 * not know yet or have not finished.
 */
final class LeaseRegistry {

	private final Map<String, Lease> byHolder = new ConcurrentHashMap<>();

	private final Map<Thread, Set<Lease>> byThread = new ConcurrentHashMap<>();

	private final Set<Lease> lost = ConcurrentHashMap.newKeySet();

	private final Consumer<Lease> ended;

	/**
	 * An empty registry.
	 * @param ended is told of each lease that comes to an end without a successor
	 */
	LeaseRegistry(Consumer<Lease> ended) {
		this.ended = ended;
	}

	/**
	 * Add a lease, in the place of one that it was handed over from.
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
	 * The current thread begins to work under a lease.
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
	 * The current thread does not work under a lease any more.
	 */
	void detach(Lease lease) {
		Thread current = Thread.currentThread();
		lease.owner().detach();
		if (!lease.owner().isOf(current)) {
			forget(current, lease);
		}
	}

	void remove(Lease lease) {
		if (this.byHolder.remove(lease.key().holder(), lease)) {
			forget(lease);
			this.ended.accept(lease);
		}
	}

	/**
	 * Remove a lease that was lost, but keep in mind that its owner may still work.
	 */
	void lose(Lease lease) {
		this.lost.add(lease);
		remove(lease);
		// Its owner may have finished before it was added
		if (isFinished(lease)) {
			finished(lease);
		}
	}

	/**
	 * The owner of a lease has closed its handle, and needs not be told of a loss any
	 * more.
	 */
	void finished(Lease lease) {
		this.lost.remove(lease);
	}

	/**
	 * Forget the lost leases whose handles nobody refers to any more, and will never
	 * close.
	 */
	void forgetFinished() {
		this.lost.removeIf(LeaseRegistry::isFinished);
	}

	private static boolean isFinished(Lease lost) {
		LeaseHandle handle = lost.handle();
		return handle == null || handle.isClosed();
	}

	/**
	 * Do something with each handle under which a thread works, held or lost.
	 */
	void forEachOf(Thread thread, Consumer<LeaseHandle> action) {
		for (Lease lease : this.byThread.getOrDefault(thread, Set.of())) {
			if (lease.owner().isOf(thread) && lease.end() != LossReason.RELEASED) {
				offer(lease, action);
			}
		}
		if (!this.lost.isEmpty()) {
			for (Lease lease : this.lost) {
				if (lease.owner().isOf(thread) && !isFinished(lease)) {
					offer(lease, action);
				}
			}
		}
	}

	private static void offer(Lease lease, Consumer<LeaseHandle> action) {
		LeaseHandle handle = lease.handle();
		if (handle != null) {
			action.accept(handle);
		}
	}

	/**
	 * The lease that this acquisition has now: after a hand-over not the one that it
	 * began with.
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
	 * How many threads work under something.
	 */
	int threads() {
		return this.byThread.size();
	}

	/**
	 * How many leases were lost whose owners have not finished.
	 */
	int unfinished() {
		return this.lost.size();
	}

	boolean isEmpty() {
		return this.byHolder.isEmpty();
	}

}
