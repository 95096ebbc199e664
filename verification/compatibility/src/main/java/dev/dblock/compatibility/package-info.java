/**
 * A small application that has the starter as its dependency, in words that each Spring
 * Boot understands.
 */
@NullMarked
package dev.dblock.compatibility;

import org.jspecify.annotations.NullMarked;
