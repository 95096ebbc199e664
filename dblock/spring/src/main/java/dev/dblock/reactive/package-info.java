/**
 * Reactive sequences and transactions under a lock. Applications use
 * {@code ReactiveLockTemplate} and {@code ReactiveTransactions}; everything else is
 * internal and can change in any release.
 */
@NullMarked
package dev.dblock.reactive;

import org.jspecify.annotations.NullMarked;
