package dev.dblock.faults;

/**
 * Versions of the servers for a while.
 *
 * @param versions the versions of the members, and their feature compatibility version
 * @param time the time, in {@code nanoTime}
 */
record ServerState(String versions, Span time) {
}
