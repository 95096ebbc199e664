/**
 * The advisor behind {@link dev.dblock.DistributedLock @DistributedLock}, and the checks
 * of locked beans at start-up.
 */
@NullMarked
package dev.dblock.annotation;

import org.jspecify.annotations.NullMarked;
