/**
 * What the engine reports for metrics and traces, whatever records them.
 */
@NullMarked
package dev.dblock.observation;

import org.jspecify.annotations.NullMarked;
