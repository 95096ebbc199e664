/**
 * Work under a lock: the template, re-entry, futures, {@code Lock} views and several
 * locks at once. Applications create a {@code DefaultLockTemplate} where Spring Boot does
 * not; everything else is internal and can change in any release.
 */
@NullMarked
package dev.dblock.execution;

import org.jspecify.annotations.NullMarked;
