/**
 * The clients of the requests: what is known about their servers. Internal: can change in
 * any release.
 */
@NullMarked
package dev.dblock.mongodb.client;

import org.jspecify.annotations.NullMarked;
