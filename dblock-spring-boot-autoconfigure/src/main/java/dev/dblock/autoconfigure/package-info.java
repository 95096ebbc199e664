/**
 * Auto-configuration and properties. No other package imports this one.
 */
@NullMarked
package dev.dblock.autoconfigure;

import org.jspecify.annotations.NullMarked;
