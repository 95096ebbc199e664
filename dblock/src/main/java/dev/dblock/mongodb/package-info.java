/**
 * The lock repository on MongoDB. The only room that knows the driver.
 */
@NullMarked
package dev.dblock.mongodb;

import org.jspecify.annotations.NullMarked;
