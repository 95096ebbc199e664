/**
 * The page that shows who holds what, and the buttons on it.
 */
@NullMarked
package dev.dblock.sample.live;

import org.jspecify.annotations.NullMarked;
