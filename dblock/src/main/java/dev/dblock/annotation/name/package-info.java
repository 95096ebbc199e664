/**
 * The names and conditions of locks, with their expressions.
 */
@NullMarked
package dev.dblock.annotation.name;

import org.jspecify.annotations.NullMarked;
