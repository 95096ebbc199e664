/**
 * Scheduled jobs: their planned times, firings and runs.
 */
@NullMarked
package dev.dblock.job;

import org.jspecify.annotations.NullMarked;
