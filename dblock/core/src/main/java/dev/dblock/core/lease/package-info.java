/**
 * The lease of a lock: its times, its renewal, the threads that work under it, and the
 * clocks by which it is measured. Knows nothing of queues and requests. Internal: can
 * change in any release.
 */
@NullMarked
package dev.dblock.core.lease;

import org.jspecify.annotations.NullMarked;
