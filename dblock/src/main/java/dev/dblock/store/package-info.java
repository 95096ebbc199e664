/**
 * What the engine asks of a store of locks: the {@link dev.dblock.store.LockRepository},
 * its requests and its answers. To support another database, implement this package.
 */
@NullMarked
package dev.dblock.store;

import org.jspecify.annotations.NullMarked;
