package dev.dblock.store;

/**
 * Identifies a lease in the store.
 *
 * @param name the full name of the lock
 * @param holder the random id of the acquisition
 */
public record LeaseKey(String name, String holder) {
}
