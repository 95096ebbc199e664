package dev.dblock.mongodb;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import dev.dblock.store.LeaseKey;

/**
 * Splits a list of leases into batches that fit into one command (16 MB), since a name
 * has at most 1000 bytes.
 */
final class RenewalBatches {

	private static final int MOST_LEASES = 5_000;

	private RenewalBatches() {
	}

	/**
	 * Describe the renewal for messages.
	 * @param leases the leases, at least one
	 * @return the description
	 */
	static String describe(List<LeaseKey> leases) {
		String first = leases.get(0).id();
		return switch (leases.size()) {
			case 1 -> "renew the lock '" + first + "'";
			case 2 -> "renew the locks '" + first + "' and '" + leases.get(1).id() + "'";
			default -> "renew the lock '" + first + "' and " + (leases.size() - 1) + " others";
		};
	}

	/**
	 * Split the leases into batches.
	 * @param leases the leases; a duplicate is renewed once
	 * @return the batches
	 */
	static List<List<LeaseKey>> of(Collection<LeaseKey> leases) {
		List<LeaseKey> all = leases.stream().distinct().toList();
		List<List<LeaseKey>> batches = new ArrayList<>();
		for (int first = 0; first < all.size(); first += MOST_LEASES) {
			batches.add(all.subList(first, Math.min(first + MOST_LEASES, all.size())));
		}
		return batches;
	}

}
