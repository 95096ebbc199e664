/**
 * The interface between the engine and a lock store: the
 * {@link dev.dblock.store.LockRepository}, its requests and its answers. To support
 * another database, implement this package.
 */
@NullMarked
package dev.dblock.store;

import org.jspecify.annotations.NullMarked;
