/**
 * A MongoDB server in memory, and the part of its driver that dblock calls. Evaluates
 * just the commands, operators and expressions that dblock sends, and refuses all others.
 */
@NullMarked
package dev.dblock.simulation.server;

import org.jspecify.annotations.NullMarked;
