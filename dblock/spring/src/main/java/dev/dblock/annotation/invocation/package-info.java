/**
 * Parses the lock annotations of a method into an operation, and locks its calls
 * according to its return type. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.annotation.invocation;

import org.jspecify.annotations.NullMarked;
