/**
 * Waiting for a lock: the queue of each name, hand-over, pauses between requests, and the
 * reports of releases that wake waiters. No class here sends a request for a lock.
 */
@NullMarked
package dev.dblock.core.queue;

import org.jspecify.annotations.NullMarked;
