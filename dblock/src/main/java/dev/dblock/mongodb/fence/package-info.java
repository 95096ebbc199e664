/**
 * The fence documents, and the transactions that write them.
 */
@NullMarked
package dev.dblock.mongodb.fence;

import org.jspecify.annotations.NullMarked;
