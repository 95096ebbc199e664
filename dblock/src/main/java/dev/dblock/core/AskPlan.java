package dev.dblock.core;

/**
 * What the waiters of a queue know of the store: its last answer, whoever of them asked,
 * and when to ask again. It outlasts the one who asked, so that a queue costs the same
 * whether its head stays or gives up.
 *
 * @param last the last answer
 * @param refusals how many in a row there were
 * @param cause why the next request is sent, if nothing is told before
 * @param atNanos when, on the monotonic clock
 */
record AskPlan(Outcome last, int refusals, WaitCause cause, long atNanos) {
}
