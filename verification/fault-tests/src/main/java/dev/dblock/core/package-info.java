/**
 * Access to the engine for the simulation.
 */
@NullMarked
package dev.dblock.core;

import org.jspecify.annotations.NullMarked;
