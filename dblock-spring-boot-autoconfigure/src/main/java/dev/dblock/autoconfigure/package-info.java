/**
 * Wiring and properties. Nothing imports it.
 */
@NullMarked
package dev.dblock.autoconfigure;

import org.jspecify.annotations.NullMarked;
