/**
 * The requests to MongoDB in both dialects, the lock document that they write, their time
 * limits and the translation of their failures. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.mongodb.request;

import org.jspecify.annotations.NullMarked;
