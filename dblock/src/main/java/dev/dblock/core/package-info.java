/**
 * The lock engine, which acquires, renews and releases locks, waits for them and reports
 * events. It does not depend on a database, AOP or Spring Boot. It reaches a store
 * through the {@link dev.dblock.store.LockRepository}.
 */
@NullMarked
package dev.dblock.core;

import org.jspecify.annotations.NullMarked;
