/**
 * Scheduled methods: their planned times, and the calls that the scheduler makes for
 * them.
 */
@NullMarked
package dev.dblock.job.schedule;

import org.jspecify.annotations.NullMarked;
