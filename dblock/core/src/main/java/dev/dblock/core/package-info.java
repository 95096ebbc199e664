/**
 * The engine, which acquires, renews and releases locks, waits for them and reports
 * events. It reaches a store through the {@link dev.dblock.store.LockRepository}.
 * Applications create a {@code DefaultLockEngine} where neither Spring Boot nor
 * {@code @EnableDistributedLocks} does; everything else is internal and can change in any
 * release.
 */
@NullMarked
package dev.dblock.core;

import org.jspecify.annotations.NullMarked;
