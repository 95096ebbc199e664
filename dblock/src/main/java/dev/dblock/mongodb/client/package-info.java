/**
 * The clients behind the requests: the dedicated one, and what is known of its servers.
 */
@NullMarked
package dev.dblock.mongodb.client;

import org.jspecify.annotations.NullMarked;
