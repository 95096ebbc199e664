/**
 * Metrics and traces. The only package that depends on Micrometer.
 */
@NullMarked
package dev.dblock.micrometer;

import org.jspecify.annotations.NullMarked;
