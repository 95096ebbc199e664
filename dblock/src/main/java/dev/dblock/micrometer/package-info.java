/**
 * Meters and observations. Apart from the auto-configuration, only this package depends
 * on Micrometer.
 */
@NullMarked
package dev.dblock.micrometer;

import org.jspecify.annotations.NullMarked;
