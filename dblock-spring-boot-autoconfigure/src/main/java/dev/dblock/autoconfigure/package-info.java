/**
 * Auto-configuration and properties. Of the other packages, only the test support imports
 * it.
 */
@NullMarked
package dev.dblock.autoconfigure;

import org.jspecify.annotations.NullMarked;
