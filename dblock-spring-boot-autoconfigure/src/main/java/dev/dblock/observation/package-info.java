/**
 * Metrics and traces. The only package that knows Micrometer.
 */
@NullMarked
package dev.dblock.observation;

import org.jspecify.annotations.NullMarked;
