/**
 * The engine: acquires, renews, releases, waits and tells. Knows of no database, no AOP
 * and no Spring Boot; the {@link dev.dblock.store.LockRepository} is how it reaches a
 * store.
 */
@NullMarked
package dev.dblock.core;

import org.jspecify.annotations.NullMarked;
