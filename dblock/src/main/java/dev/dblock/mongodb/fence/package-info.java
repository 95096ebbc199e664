/**
 * The fence documents, and the transactions that write them. Internal: can change in any
 * release.
 */
@NullMarked
package dev.dblock.mongodb.fence;

import org.jspecify.annotations.NullMarked;
