package dev.dblock.core;

/**
 * The waiters' knowledge of the store: its last answer, regardless of which waiter sent
 * the request, and when to send the next one. The plan outlasts the waiter that created
 * it, so that a queue costs the same whether its head stays or gives up.
 *
 * @param last the last answer
 * @param refusals the number of consecutive refusals
 * @param cause the cause of the next request, unless a signal arrives earlier
 * @param atNanos when to send the next request, on the monotonic clock
 */
record AskPlan(Outcome last, int refusals, WaitCause cause, long atNanos) {
}
