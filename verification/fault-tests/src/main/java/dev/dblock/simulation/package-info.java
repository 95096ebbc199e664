/**
 * Runs the engine, several processes and a store in one JVM, in simulated time and in an
 * order that a seed determines, and checks what dblock promises.
 */
@NullMarked
package dev.dblock.simulation;

import org.jspecify.annotations.NullMarked;
