/**
 * Locks for Spring Integration. The only room that knows it.
 */
@NullMarked
package dev.dblock.integration;

import org.jspecify.annotations.NullMarked;
