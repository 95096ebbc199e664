/**
 * The interface through which the engine reports to metrics and traces, independent of
 * the library that records them. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.observation;

import org.jspecify.annotations.NullMarked;
