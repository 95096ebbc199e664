/**
 * When a job is planned, by the clock of the store. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.job.trigger;

import org.jspecify.annotations.NullMarked;
