/**
 * Metrics and traces. The only package that knows Micrometer.
 */
@NullMarked
package dev.dblock.micrometer;

import org.jspecify.annotations.NullMarked;
