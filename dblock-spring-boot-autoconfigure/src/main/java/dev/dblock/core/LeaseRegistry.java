package dev.dblock.core;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The leases that this process holds.
 */
final class LeaseRegistry {

	private final Map<String, Lease> byHolder = new ConcurrentHashMap<>();

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
