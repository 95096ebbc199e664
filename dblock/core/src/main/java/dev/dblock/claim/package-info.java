/**
 * The interface between the engine and what a lock can be acquired for, such as a planned
 * time of a job.
 */
@NullMarked
package dev.dblock.claim;

import org.jspecify.annotations.NullMarked;
