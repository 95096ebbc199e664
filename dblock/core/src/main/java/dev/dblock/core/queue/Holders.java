package dev.dblock.core.queue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

import dev.dblock.core.lease.Lease;
import org.jspecify.annotations.Nullable;

/**
 * The leases by which a process holds a lock: one, or as many as the lock has permits.
 * Guarded by the queue's monitor; only {@link #isEmpty()} is read without it.
 */
public final class Holders {

	private volatile List<Lease> leases = List.of();

	boolean isEmpty() {
		return this.leases.isEmpty();
	}

	boolean contains(Lease lease) {
		return this.leases.stream().anyMatch((other) -> other == lease);
	}

	/**
	 * Add a lease, in place of the one that this process had of the same permit.
	 */
	void add(Lease lease) {
		List<Lease> others = without((other) -> other.key().permit() == lease.key().permit());
		others.add(lease);
		this.leases = List.copyOf(others);
	}

	/**
	 * Remove a lease.
	 * @return whether this process held the lock by it
	 */
	boolean remove(Lease lease) {
		boolean held = contains(lease);
		if (held) {
			this.leases = List.copyOf(without((other) -> other == lease));
		}
		return held;
	}

	private List<Lease> without(Predicate<Lease> removed) {
		List<Lease> others = new ArrayList<>(this.leases);
		others.removeIf(removed);
		return others;
	}

	/**
	 * Return the leases with a property.
	 */
	List<Lease> all(Predicate<Lease> property) {
		return this.leases.stream().filter(property).toList();
	}

	/**
	 * Return the lease that ends first.
	 */
	public static @Nullable Lease first(List<Lease> leases) {
		return leases.stream().min(Comparator.comparingLong(Lease::remainingNanos)).orElse(null);
	}

}
