package dev.dblock.core;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The leases that this process holds.
 */
final class LeaseRegistry {

	private final Map<String, Lease> byHolder = new ConcurrentHashMap<>();

	void add(Lease lease) {
		this.byHolder.put(lease.key().holder(), lease);
	}

	boolean remove(Lease lease) {
		return this.byHolder.remove(lease.key().holder(), lease);
	}

	boolean contains(Lease lease) {
		return this.byHolder.get(lease.key().holder()) == lease;
	}

	Collection<Lease> all() {
		return this.byHolder.values();
	}

	boolean isEmpty() {
		return this.byHolder.isEmpty();
	}

}
