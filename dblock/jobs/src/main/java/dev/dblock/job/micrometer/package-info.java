/**
 * The meters of jobs.
 */
@NullMarked
package dev.dblock.job.micrometer;

import org.jspecify.annotations.NullMarked;
