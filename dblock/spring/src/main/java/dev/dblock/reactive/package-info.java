/**
 * Reactive sequences under a lock. Applications use {@code ReactiveLockTemplate};
 * everything else is internal and can change in any release.
 */
@NullMarked
package dev.dblock.reactive;

import org.jspecify.annotations.NullMarked;
