/**
 * Locks for Spring Integration. The only package that depends on it.
 */
@NullMarked
package dev.dblock.integration;

import org.jspecify.annotations.NullMarked;
