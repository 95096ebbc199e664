/**
 * Benchmarks of dblock in comparison with raw writes of the driver, ShedLock and
 * Redisson, measured in one run.
 */
@NullMarked
package dev.dblock.benchmarks;

import org.jspecify.annotations.NullMarked;
