/**
 * The interface between the engine and a lock store. To support another database,
 * implement {@link dev.dblock.store.LockRepository}; {@code ReleaseFeed} and {@code
 * TransactionFence} are optional.
 */
@NullMarked
package dev.dblock.store;

import org.jspecify.annotations.NullMarked;
