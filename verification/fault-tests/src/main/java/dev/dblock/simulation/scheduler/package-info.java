/**
 * Runs virtual threads one at a time, in an order and in a time that a seed determines.
 * The agent puts this package on the boot class path, since classes of the JDK call it.
 */
@NullMarked
package dev.dblock.simulation.scheduler;

import org.jspecify.annotations.NullMarked;
