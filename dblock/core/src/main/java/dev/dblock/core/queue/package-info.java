/**
 * The threads of one process that wait for a lock: who is next, and when it asks the
 * store. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.core.queue;

import org.jspecify.annotations.NullMarked;
