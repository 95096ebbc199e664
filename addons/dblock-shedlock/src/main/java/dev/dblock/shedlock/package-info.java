/**
 * ShedLock's locks, kept by dblock: a {@code LockProvider} for applications that move
 * from ShedLock without changing their annotations.
 */
@NullMarked
package dev.dblock.shedlock;

import org.jspecify.annotations.NullMarked;
