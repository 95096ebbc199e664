/**
 * Scheduled jobs: their policy, planned times and runs, and the bean that operates them.
 */
@NullMarked
package dev.dblock.job;

import org.jspecify.annotations.NullMarked;
