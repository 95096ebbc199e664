/**
 * The locked methods that are jobs: finds them, reads their policies, and passes the
 * scheduler's calls on to their locks. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.job.method;

import org.jspecify.annotations.NullMarked;
