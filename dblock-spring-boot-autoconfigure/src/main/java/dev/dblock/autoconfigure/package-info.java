/**
 * Auto-configuration and properties. Of the other packages, only {@code .actuate} and the
 * test support import it.
 */
@NullMarked
package dev.dblock.autoconfigure;

import org.jspecify.annotations.NullMarked;
