/**
 * Tests of engine, store, annotation and auto-configuration together, on real servers:
 * the guarantees, from the point of view of applications.
 */
@NullMarked
package dev.dblock.scenario;

import org.jspecify.annotations.NullMarked;
