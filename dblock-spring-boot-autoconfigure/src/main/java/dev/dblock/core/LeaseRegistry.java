package dev.dblock.core;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import dev.dblock.LossReason;
import org.jspecify.annotations.Nullable;

/**
 * The leases that this process holds, and those that it has lost while their owners do
 * not know yet or have not finished.
 */
final class LeaseRegistry {

	private final Map<String, Lease> byHolder = new ConcurrentHashMap<>();

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
		this.byHolder.put(lease.key().holder(), lease);
	}

	void remove(Lease lease) {
		if (this.byHolder.remove(lease.key().holder(), lease)) {
			this.ended.accept(lease);
		}
	}

	/**
	 * Remove a lease that was lost, but keep in mind that its owner may still work.
	 */
	void lose(Lease lease) {
		this.lost.removeIf(LeaseRegistry::isFinished);
		this.lost.add(lease);
		remove(lease);
	}

	private static boolean isFinished(Lease lost) {
		LeaseHandle handle = lost.handle();
		return handle == null || handle.isClosed();
	}

	/**
	 * Do something with each handle under which a thread works, held or lost.
	 */
	void forEachOf(Thread thread, Consumer<LeaseHandle> action) {
		for (Lease lease : this.byHolder.values()) {
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

	boolean isEmpty() {
		return this.byHolder.isEmpty();
	}

}
