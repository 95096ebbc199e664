/**
 * The MongoDB servers that the tests run against, and the faults that tests cause in
 * them.
 */
@NullMarked
package dev.dblock.testing;

import org.jspecify.annotations.NullMarked;
