/**
 * Parses the lock annotations of a method to an operation, and locks its calls according
 * to its return type.
 */
@NullMarked
package dev.dblock.annotation.invocation;

import org.jspecify.annotations.NullMarked;
