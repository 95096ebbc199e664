/**
 * Lock store in the memory of this process, for development and tests.
 */
@NullMarked
package dev.dblock.local;

import org.jspecify.annotations.NullMarked;
