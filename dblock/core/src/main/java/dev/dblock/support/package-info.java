/**
 * Helpers of all packages: durations in messages, threads, interrupts, and the fields of
 * log messages. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.support;

import org.jspecify.annotations.NullMarked;
