package dev.dblock.store;

import java.time.Instant;

/**
 * What the clock of a store shows, as far as it can be known from here.
 *
 * @param notBefore it shows this or something later
 * @param notAfter it shows this or something earlier
 */
public record StoreTime(Instant notBefore, Instant notAfter) {
}
