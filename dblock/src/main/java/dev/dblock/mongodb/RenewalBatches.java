package dev.dblock.mongodb;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;

import dev.dblock.store.LeaseKey;

/**
 * Splits a list of leases into batches that fit into one command and its answer (16 MB
 * each).
 */
final class RenewalBatches {

	private static final int MOST_LEASES = 5_000;

	private static final int MOST_BYTES = 6_000_000;

	/** The approximate size in bytes of a found document beyond name and holder. */
	private static final int OVERHEAD = 400;

	private RenewalBatches() {
	}

	/**
	 * Describe the renewal for messages.
	 * @param leases the leases, at least one
	 * @return the description
	 */
	static String describe(List<LeaseKey> leases) {
		String first = leases.get(0).name();
		return switch (leases.size()) {
			case 1 -> "renew the lock '" + first + "'";
			case 2 -> "renew the locks '" + first + "' and '" + leases.get(1).name() + "'";
			default -> "renew the lock '" + first + "' and " + (leases.size() - 1) + " others";
		};
	}

	/**
	 * Split the leases into batches.
	 * @param leases the leases; a duplicate is renewed once
	 * @return the batches
	 */
	static List<List<LeaseKey>> of(Collection<LeaseKey> leases) {
		List<List<LeaseKey>> batches = new ArrayList<>();
		List<LeaseKey> batch = new ArrayList<>();
		int bytes = 0;
		for (LeaseKey lease : new LinkedHashSet<>(leases)) {
			int size = OVERHEAD + 3 * (lease.name().length() + lease.holder().length());
			if (batch.size() == MOST_LEASES || !batch.isEmpty() && bytes + size > MOST_BYTES) {
				batches.add(batch);
				batch = new ArrayList<>();
				bytes = 0;
			}
			batch.add(lease);
			bytes += size;
		}
		if (!batch.isEmpty()) {
			batches.add(batch);
		}
		return batches;
	}

}
