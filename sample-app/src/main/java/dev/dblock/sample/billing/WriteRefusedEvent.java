package dev.dblock.sample.billing;

/**
 * Nothing was written, because the lock had been lost.
 *
 * @param name the lock
 * @param token the token of the holder that was refused
 * @param what what it wanted to write
 * @param committing whether the commit of a transaction was refused; else the holder's
 * own check found that its lease is over
 */
public record WriteRefusedEvent(String name, long token, String what, boolean committing) {
}
