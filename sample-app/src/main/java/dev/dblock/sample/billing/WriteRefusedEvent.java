package dev.dblock.sample.billing;

/**
 * Event published when nothing was written because the lock had been lost.
 *
 * @param name the name of the lock
 * @param token the token of the rejected holder
 * @param what a description of the write
 * @param committing whether the commit of a transaction was rejected; otherwise the
 * holder's own check found that its lease has ended
 */
public record WriteRefusedEvent(String name, long token, String what, boolean committing) {
}
