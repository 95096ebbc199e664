/**
 * Locks for Spring Integration: registries for its versions 7 and 6. Apart from the
 * auto-configuration, only this package depends on it.
 */
@NullMarked
package dev.dblock.integration;

import org.jspecify.annotations.NullMarked;
