/**
 * Meters and observations of locks.
 */
@NullMarked
package dev.dblock.micrometer;

import org.jspecify.annotations.NullMarked;
