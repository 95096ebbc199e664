/**
 * The advisor behind {@link dev.dblock.DistributedLock @DistributedLock}, and the checks
 * of locked beans at start-up. Applications without Spring Boot use
 * {@code @EnableDistributedLocks}; everything else is internal and can change in any
 * release.
 */
@NullMarked
package dev.dblock.annotation;

import org.jspecify.annotations.NullMarked;
