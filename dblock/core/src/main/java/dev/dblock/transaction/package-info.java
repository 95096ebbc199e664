/**
 * Transactions under a lock: each keeps the locks that were acquired inside it, checks
 * its locks before the commit, and writes their fences. Applications use
 * {@link dev.dblock.transaction.LockTransactions} where Spring Boot does not; everything
 * else is internal and can change in any release.
 */
@NullMarked
package dev.dblock.transaction;

import org.jspecify.annotations.NullMarked;
