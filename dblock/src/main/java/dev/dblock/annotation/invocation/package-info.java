/**
 * From the annotations of a method to an operation, and how a call of the method is
 * locked, by its return type.
 */
@NullMarked
package dev.dblock.annotation.invocation;

import org.jspecify.annotations.NullMarked;
