/**
 * Captures the schedules of methods, plans their runs, and retries what was refused.
 * Internal: can change in any release.
 */
@NullMarked
package dev.dblock.job.schedule;

import org.jspecify.annotations.NullMarked;
