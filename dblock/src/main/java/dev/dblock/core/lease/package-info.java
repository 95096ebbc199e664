/**
 * The state of one lease: its grant, its deadline, its owner, the transactions under it,
 * and its end. No class here sends a request.
 */
@NullMarked
package dev.dblock.core.lease;

import org.jspecify.annotations.NullMarked;
