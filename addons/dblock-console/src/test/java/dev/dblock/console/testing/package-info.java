/**
 * A browser and processes, for tests of pages.
 */
@NullMarked
package dev.dblock.console.testing;

import org.jspecify.annotations.NullMarked;
