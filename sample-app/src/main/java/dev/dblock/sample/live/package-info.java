/**
 * The page that shows the holders of all locks, and its buttons.
 */
@NullMarked
package dev.dblock.sample.live;

import org.jspecify.annotations.NullMarked;
