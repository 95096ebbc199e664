/**
 * The whole thing, engine, store, annotation and wiring, on real servers: what is
 * promised to applications, tried as they would meet it.
 */
@NullMarked
package dev.dblock.scenario;

import org.jspecify.annotations.NullMarked;
