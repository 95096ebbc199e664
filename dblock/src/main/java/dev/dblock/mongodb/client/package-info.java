/**
 * The clients of the requests: the dedicated client, and what is known about its servers.
 * Internal: can change in any release.
 */
@NullMarked
package dev.dblock.mongodb.client;

import org.jspecify.annotations.NullMarked;
