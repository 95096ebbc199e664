/**
 * The settings of an engine and of single locks, and the terms of a lease that follow
 * from them.
 */
@NullMarked
package dev.dblock.settings;

import org.jspecify.annotations.NullMarked;
