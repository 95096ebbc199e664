/**
 * The values of attributes, and the names and conditions of locks with their expressions.
 * Internal: can change in any release.
 */
@NullMarked
package dev.dblock.annotation.name;

import org.jspecify.annotations.NullMarked;
