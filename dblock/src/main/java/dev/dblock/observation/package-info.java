/**
 * The interface through which the engine reports to metrics and traces, independent of
 * the library that records them.
 */
@NullMarked
package dev.dblock.observation;

import org.jspecify.annotations.NullMarked;
