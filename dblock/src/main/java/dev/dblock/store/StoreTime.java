package dev.dblock.store;

import java.time.Instant;

/**
 * The time of a store's clock, as far as it can be determined by a client.
 *
 * @param notBefore the earliest time that the clock can show
 * @param notAfter the latest time that the clock can show
 */
public record StoreTime(Instant notBefore, Instant notAfter) {
}
